"""Finds experiments: every module of the package and its folders with an `experiment`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

import assay.study.experiments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.study.experiments.contract import Experiment


@cache
def experiments() -> Mapping[str, Experiment]:
    """Return every experiment, by the kind of advice that it carries out."""
    package = assay.study.experiments
    modules = [
        importlib.import_module(module_info.name)
        for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    declared = [module.experiment for module in modules if hasattr(module, "experiment")]
    return {experiment.kind: experiment for experiment in declared}
