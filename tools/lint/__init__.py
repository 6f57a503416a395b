"""Check what no other linter knows: the habits, the public names, the pages and their words."""
