"""Experiments: changes of a run that confirm or refute a cause of lost time.

Each experiment has its own file.
"""
