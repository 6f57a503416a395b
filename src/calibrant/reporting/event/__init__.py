"""What reports on the risk of an event have of their own."""
