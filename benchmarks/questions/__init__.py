"""What the calibrators, rules and rates of questions promise, and what they keep."""
