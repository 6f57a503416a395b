"""Order of files by the numbers in their names."""
