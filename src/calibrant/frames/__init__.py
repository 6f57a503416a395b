"""Evaluation and calibration of tables of any size, batch by batch on existing engines."""

from calibrant.frames.apply import apply
from calibrant.frames.evaluate import evaluate
from calibrant.frames.evaluation import Evaluation
from calibrant.frames.sample import RowSample, sample
from calibrant.frames.sketch import ScoreSketch, sketch

__all__ = ["Evaluation", "RowSample", "ScoreSketch", "apply", "evaluate", "sample", "sketch"]
