from calibrant.adapters.mlflow_model import MlflowCalibrator as MlflowCalibrator
from calibrant.adapters.mlflow_model import trusted_types as trusted_types
from calibrant.adapters.model_card import model_card as model_card

__all__: list[str]
