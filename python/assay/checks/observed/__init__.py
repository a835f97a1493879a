"""Checks on observed servers, one file each.

Each check of an observation has its own file.
"""
