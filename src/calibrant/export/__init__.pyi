from calibrant.export.code import to_c as to_c
from calibrant.export.code import to_javascript as to_javascript
from calibrant.export.code import to_json as to_json
from calibrant.export.mlflow import MlflowCalibrator as MlflowCalibrator
from calibrant.export.mlflow import model_card as model_card
from calibrant.export.mlflow import trusted_types as trusted_types
from calibrant.export.onnx import append_to_onnx as append_to_onnx
from calibrant.export.onnx import to_onnx as to_onnx
from calibrant.export.skl2onnx import register_skl2onnx as register_skl2onnx
from calibrant.export.sql import to_sql as to_sql
from calibrant.export.torch import to_torch as to_torch

__all__: list[str]
