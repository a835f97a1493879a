"""Experiment that rewrites a table without its dead rows."""

from __future__ import annotations

from functools import partial

from assay.study.experiments.contract import Experiment
from assay.study.experiments.statements import SET_UP, UNDO, prepared_with

experiment = Experiment(
    kind="vacuum",
    changes="the file of a table",
    set_up=SET_UP,
    undo=UNDO,
    follow=partial(prepared_with, "vacuum"),
)
