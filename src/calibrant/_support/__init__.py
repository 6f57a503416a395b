"""Saving and its registry, files, extras, options, status, solving: what the contracts stand on."""
