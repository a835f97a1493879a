"""Experiments: changes of a run that confirm or refute a cause.

Each experiment has its own file.
"""
