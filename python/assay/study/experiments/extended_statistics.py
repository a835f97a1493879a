"""An experiment that gathers statistics of several columns together, or of an expression."""

from __future__ import annotations

from functools import partial

from assay.study.experiments.contract import Experiment, always
from assay.study.experiments.statements import SET_UP, UNDO, prepared_with

experiment = Experiment(
    kind="extended-statistics",
    changes="the optimiser's row estimates of conditions on a table",
    set_up=SET_UP,
    undo=UNDO,
    follow=partial(prepared_with, "extended-statistics"),
    by_plan=always,
)
