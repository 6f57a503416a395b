from calibrant.tables.apply import apply as apply
from calibrant.tables.evaluate import evaluate as evaluate
from calibrant.tables.evaluation import Evaluation as Evaluation
from calibrant.tables.sample import RowSample as RowSample
from calibrant.tables.sample import ScoreSketch as ScoreSketch
from calibrant.tables.sample import sample as sample
from calibrant.tables.sample import sketch as sketch

__all__: list[str]
