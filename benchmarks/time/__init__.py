"""What still holds as time goes on: levels, calibrators that learn, estimates without labels."""
