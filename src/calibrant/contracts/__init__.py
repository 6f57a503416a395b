"""Templates of calibrators, maps, signals, metrics and states, also for extensions."""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
