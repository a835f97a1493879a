"""Experiment that renews the optimiser's statistics of a table."""

from __future__ import annotations

from functools import partial

from assay.study.experiments.contract import Experiment, always
from assay.study.experiments.statements import SET_UP, UNDO, prepared_with

experiment = Experiment(
    kind="statistics",
    changes="the optimiser's row estimates of a table",
    set_up=SET_UP,
    undo=UNDO,
    follow=partial(prepared_with, "statistics"),
    by_plan=always,
)
