from calibrant.adapters.mlflow_model import MlflowCalibrator as MlflowCalibrator
from calibrant.adapters.mlflow_model import trusted_types as trusted_types
from calibrant.adapters.model_card import model_card as model_card
from calibrant.questions.decision_models import decision_answers as decision_answers
from calibrant.questions.inspect_logs import inspect_samples as inspect_samples
from calibrant.questions.lm_eval import lm_eval_samples as lm_eval_samples
from calibrant.questions.pydantic_evals import pydantic_cases as pydantic_cases

__all__: list[str]
