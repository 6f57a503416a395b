"""Arrays in, arrays out: numerical methods on NumPy and SciPy alone."""
