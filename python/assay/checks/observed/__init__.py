"""Checks of observations, in which Assay drives no load. Each check has its own file."""
