"""The templates: what a calibrator, map, signal, metric and state promise."""
