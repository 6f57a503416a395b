"""The metrics of an event beside R's: ``python -m benchmarks.event.against_r``."""
