"""Changes of a run's host, and how they are put back, however the run ends."""
