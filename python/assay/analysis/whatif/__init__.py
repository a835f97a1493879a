"""Predicts the effect of changes on a run's metrics, with a model and its assumptions.

`predict` carries changes out on a run's operations one after another, `sensitivity` says what each
operation weighs in each metric, `worth` what each cause and each kind of work would give back.
"""

from assay.analysis.whatif.gains import worth
from assay.analysis.whatif.prediction import predict
from assay.analysis.whatif.timing import measured_of
from assay.analysis.whatif.weights import sensitivity

__all__ = ["measured_of", "predict", "sensitivity", "worth"]
