from calibrant.signals.from_probabilities import Entropy as Entropy
from calibrant.signals.from_probabilities import LogOdds as LogOdds
from calibrant.signals.from_probabilities import Margin as Margin
from calibrant.signals.from_probabilities import TopProbability as TopProbability
from calibrant.signals.label_stability import LabelStability as LabelStability
from calibrant.signals.separation import FastSeparation as FastSeparation
from calibrant.signals.separation import MaximalZone as MaximalZone
from calibrant.signals.separation import PairwiseSeparation as PairwiseSeparation

__all__: list[str]
