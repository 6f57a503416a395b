from calibrant.neighbors.exact import BruteIndex as BruteIndex
from calibrant.neighbors.exact import ExactIndex as ExactIndex
from calibrant.neighbors.exact import NeighborIndex as NeighborIndex
from calibrant.neighbors.reductions import AveragePool as AveragePool
from calibrant.neighbors.reductions import BilinearResize as BilinearResize
from calibrant.neighbors.reductions import ClassCentroids as ClassCentroids
from calibrant.neighbors.reductions import Grayscale as Grayscale
from calibrant.neighbors.reductions import MaxPool as MaxPool
from calibrant.neighbors.reductions import PrincipalComponents as PrincipalComponents
from calibrant.neighbors.reductions import RandomFeatures as RandomFeatures
from calibrant.neighbors.reductions import RandomSubset as RandomSubset

__all__: list[str]
