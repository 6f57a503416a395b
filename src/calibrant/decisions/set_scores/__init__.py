"""How strange a class would be as the answer of a row: what prediction sets are made of."""
