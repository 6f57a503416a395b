from calibrant.maps.bayesian_binning import BayesianBinning as BayesianBinning
from calibrant.maps.binning import ClassRate as ClassRate
from calibrant.maps.binning import HistogramBinning as HistogramBinning
from calibrant.maps.binning import ScalingBinning as ScalingBinning
from calibrant.maps.closed_test import ClosedTest as ClosedTest
from calibrant.maps.cumulative import CumulativeConfidence as CumulativeConfidence
from calibrant.maps.isotonic import CenteredIsotonic as CenteredIsotonic
from calibrant.maps.isotonic import Isotonic as Isotonic
from calibrant.maps.isotonic import NearIsotonic as NearIsotonic
from calibrant.maps.kernel_density import KernelDensity as KernelDensity
from calibrant.maps.platt import Beta as Beta
from calibrant.maps.platt import Platt as Platt
from calibrant.maps.quadratic import QuadraticScaling as QuadraticScaling
from calibrant.maps.spline import Spline as Spline
from calibrant.maps.venn_abers import VennAbers as VennAbers

__all__: list[str]
