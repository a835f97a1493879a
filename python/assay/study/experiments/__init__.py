"""Experiments: what is changed in a run to see whether a cause is one. A file each."""
