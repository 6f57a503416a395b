"""Adapters to tools that store models; each imports its tool only when used."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
