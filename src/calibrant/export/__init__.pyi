from calibrant.export.c_source import to_c as to_c
from calibrant.export.javascript_source import to_javascript as to_javascript
from calibrant.export.json_text import to_json as to_json
from calibrant.export.mlflow_model import MlflowCalibrator as MlflowCalibrator
from calibrant.export.mlflow_model import trusted_types as trusted_types
from calibrant.export.model_card import model_card as model_card
from calibrant.export.onnx_graph import append_to_onnx as append_to_onnx
from calibrant.export.onnx_graph import to_onnx as to_onnx
from calibrant.export.skl2onnx import register_skl2onnx as register_skl2onnx
from calibrant.export.sql_query import to_sql as to_sql
from calibrant.export.torch import to_torch as to_torch

__all__: list[str]
