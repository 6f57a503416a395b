"""Maps from a score to the probability of being correct."""
