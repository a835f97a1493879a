"""Provides the data of runs: generated, loaded, sorted, and cached for later runs."""
