"""Predicts the effect of changes on a run's metrics, with a model and its assumptions.

`predict` applies changes to a run's operations one after another. `sensitivity` returns the
weight of each operation in each metric. `worth` returns the gain of removing each cause and each
kind of work.
"""

from assay.analysis.whatif.gains import worth
from assay.analysis.whatif.prediction import predict
from assay.analysis.whatif.timing import measured_of
from assay.analysis.whatif.weights import sensitivity

__all__ = ["measured_of", "predict", "sensitivity", "worth"]
