"""Checks of observations, where other clients drive the load.

Each check of an observation has its own file.
"""
