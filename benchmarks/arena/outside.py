"""A method from outside: ``--method package:Class``, with ``fit(P, y)`` and
``predict_proba(P)``, made without arguments.
"""

import hashlib
import importlib
import inspect
from pathlib import Path

from benchmarks.arena.calibrators import Method

__all__ = ["BESIDE", "outside"]

#: Ours that run beside it where ``--methods`` names none: nothing, the simplest, the best fixed
#: one, and the automatic choice.
BESIDE = ("Identity", "TemperatureScaling", "EnsembleMatrixScaling", "AutoCalibrator")


def outside(spec):
    """The method that ``package.module:Class`` names; its file is its code, so that a changed
    one runs anew.
    """
    module, _, name = spec.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SystemExit(
            f"--method {spec}: {error}; give package.module:Class, found from this folder or"
            " installed"
        ) from None
    missing = [part for part in ("fit", "predict_proba") if not callable(getattr(made, part, None))]
    if missing:
        raise SystemExit(
            f"--method {spec}: {name} has no {' and no '.join(missing)}; it must have fit(P, y) and"
            " predict_proba(P)"
        )
    code = hashlib.sha1(Path(inspect.getfile(made)).read_bytes()).hexdigest()[:12]
    return Method(name, made, source="outside", code=code)
