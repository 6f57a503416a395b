"""Support code of the contracts: saving, the registry, files, extras, options, status, solving."""
