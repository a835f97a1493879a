"""Data of runs: generated, loaded, sorted, and cached for later runs."""
