"""Data of runs: made, loaded, sorted, and kept for the next one."""
