"""Tables 1 and 2 as printed, ECE in %, with the half width of the 95 % interval."""

#: (data set, model) -> {metric: (ECE, +-)}, 10 shuffles.
TABLE_1 = {
    ("mnist", "cnn"): {"l1": (0.17, 0.03), "l2": (0.18, 0.05), "linf": (0.08, 0.03)},
    ("mnist", "gb"): {"l1": (0.28, 0.09), "l2": (0.36, 0.07), "linf": (0.37, 0.06)},
    ("mnist", "rf"): {"l1": (0.37, 0.07), "l2": (0.39, 0.06), "linf": (0.37, 0.05)},
    ("gtsrb", "cnn"): {"l1": (0.38, 0.14), "l2": (0.42, 0.15), "linf": (0.36, 0.16)},
    ("gtsrb", "gb"): {"l1": (1.08, 0.19), "l2": (0.65, 0.11), "linf": (0.41, 0.09)},
    ("gtsrb", "rf"): {"l1": (0.54, 0.19), "l2": (0.37, 0.04), "linf": (0.32, 0.05)},
    ("cifar10", "cnn"): {"l1": (1.20, 0.19), "l2": (1.20, 0.30), "linf": (3.03, 0.79)},
    ("cifar10", "gb"): {"l1": (1.59, 0.51), "l2": (1.25, 0.21), "linf": (1.17, 0.24)},
    ("cifar10", "rf"): {"l1": (1.08, 0.45), "l2": (1.15, 0.24), "linf": (1.30, 0.18)},
}
_COLUMNS = (
    "fast l2, paper",
    "pairwise, paper",
    "isotonic, one-vs-rest",
    "Platt, one-vs-rest",
    "scaling-binning",
    "histogram binning",
    "BBQ",
    "beta",
    "temperature",
    "ensemble temperature",
)
_ROWS = {
    ("mnist", "cnn"): (0.15, 0.15, 0.17, 0.52, 8.91, 0.32, 0.22, 0.64, 0.20, 0.20),
    ("mnist", "rf"): (0.35, 0.36, 0.92, 1.49, 3.92, 0.46, 1.13, 0.37),
    ("mnist", "gb"): (0.34, 0.34, 1.74, 1.97, 8.46, 0.45, 0.65, 0.47),
    ("gtsrb", "cnn"): (0.37, 0.37, 0.38, 2.83, 29.01, 1.22, 1.08, 1.98, 0.90, 0.77),
    ("gtsrb", "rf"): (0.37, 0.38, 2.55, 4.19, 13.99, 0.85, 3.08, 0.56),
    ("gtsrb", "gb"): (0.61, 0.63, 10.04, 19.63, 31.25, 1.42, 9.28, 5.36),
    ("cifar10", "cnn"): (1.12, 1.16, 1.28, 6.05, 3.57, 4.10, 5.31, 24.76, 3.68, 3.45),
    ("cifar10", "rf"): (1.37, 1.38, 3.33, 4.54, 3.01, 2.27, 3.84, 1.65),
    ("cifar10", "gb"): (1.41, 1.38, 7.70, 8.58, 2.63, 2.40, 1.51, 2.94),
}
#: (data set, model) -> {method: ECE}, 100 shuffles.
TABLE_2 = {row: dict(zip(_COLUMNS, values, strict=False)) for row, values in _ROWS.items()}
