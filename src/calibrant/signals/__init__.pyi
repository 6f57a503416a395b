from calibrant.signals.entropy import Entropy as Entropy
from calibrant.signals.fast_separation import FastSeparation as FastSeparation
from calibrant.signals.label_stability import LabelStability as LabelStability
from calibrant.signals.log_odds import LogOdds as LogOdds
from calibrant.signals.margin import Margin as Margin
from calibrant.signals.maximal_zone import MaximalZone as MaximalZone
from calibrant.signals.pairwise_separation import PairwiseSeparation as PairwiseSeparation
from calibrant.signals.top_probability import TopProbability as TopProbability
