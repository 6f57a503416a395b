"""Reports: measure predictions into a plain dictionary, and render it as a page."""
