"""Experiment that gathers a histogram of a column, for the optimiser's estimates of its values."""

from __future__ import annotations

from functools import partial

from assay.study.experiments.contract import Experiment, always
from assay.study.experiments.statements import SET_UP, UNDO, prepared_with

experiment = Experiment(
    kind="histogram",
    changes="the optimiser's row estimates of conditions on a column",
    set_up=SET_UP,
    undo=UNDO,
    follow=partial(prepared_with, "histogram"),
    by_plan=always,
)
