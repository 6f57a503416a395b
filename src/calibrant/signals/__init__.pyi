from calibrant.signals.fast_separation import FastSeparation as FastSeparation
from calibrant.signals.from_probabilities import Entropy as Entropy
from calibrant.signals.from_probabilities import LogOdds as LogOdds
from calibrant.signals.from_probabilities import Margin as Margin
from calibrant.signals.from_probabilities import TopProbability as TopProbability
from calibrant.signals.label_stability import LabelStability as LabelStability
from calibrant.signals.maximal_zone import MaximalZone as MaximalZone
from calibrant.signals.pairwise_separation import PairwiseSeparation as PairwiseSeparation
