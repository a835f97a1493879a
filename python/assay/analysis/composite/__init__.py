"""TPC-H's metrics from a record of a test: intervals, rounding, names, and what they depend on."""

from assay.analysis.composite.played import Played, played

__all__ = ["Played", "played"]
