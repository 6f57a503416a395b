"""Groups: how often an audit is wrong, and what it finds."""
