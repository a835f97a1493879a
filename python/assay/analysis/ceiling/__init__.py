"""What the host can do at most."""
