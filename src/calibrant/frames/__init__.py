"""Tables of any size: sums over Arrow batches that add up, on engines that exist."""

from calibrant.frames.apply import apply as apply
from calibrant.frames.evaluate import evaluate as evaluate
from calibrant.frames.evaluation import Evaluation as Evaluation
from calibrant.frames.sample import RowSample as RowSample
from calibrant.frames.sample import sample as sample
from calibrant.frames.sketch import ScoreSketch as ScoreSketch
from calibrant.frames.sketch import sketch as sketch

__all__ = ["Evaluation", "RowSample", "ScoreSketch", "apply", "evaluate", "sample", "sketch"]
