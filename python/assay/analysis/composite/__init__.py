"""Computes TPC-H's metrics from a recorded test: intervals, rounding, names and sensitivity."""

from assay.analysis.composite.played import Played, played

__all__ = ["Played", "played"]
