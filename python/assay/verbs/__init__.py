"""The verbs of the command line, to be called from Python: `assay.verbs.sweep(...)`.

Each makes ordinary runs and returns what came of them, opened for a notebook. Options of runs are
keyword arguments, named as the keys of a study's file: `time="10s"`, `set={"work_mem": "64MB"}`.
"""

from __future__ import annotations

from assay.verbs.answers import answers
from assay.verbs.compare import compare
from assay.verbs.durability import durability
from assay.verbs.plans import plans
from assay.verbs.run import run
from assay.verbs.study import study
from assay.verbs.sweep import sweep
from assay.verbs.try_ import try_
from assay.verbs.tune import tune
from assay.verbs.why import why

__all__ = [
    "answers",
    "compare",
    "durability",
    "plans",
    "run",
    "study",
    "sweep",
    "try_",
    "tune",
    "why",
]
