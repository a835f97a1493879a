"""Checks of observations, where other clients drive the load.

Each check has its own file.
"""
