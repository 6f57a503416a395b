"""Reports on the risk of an event."""
