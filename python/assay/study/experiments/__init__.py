"""Experiments: changes of a run that confirm or refute a cause. Each has its own file."""
