"""Makes a run's changes to its host, and reverts them however the run ends."""
