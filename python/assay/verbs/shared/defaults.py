"""Default option values of commands, for command line and Python functions."""

from __future__ import annotations

from typing import Any, Final

# Most rounds, plans or kills of a command, like the runs in a part of a study.
COUNT_MAX: Final = 10_000
# Number of rounds; each round has one run of every kind.
SWEEP_ROUNDS: Final = 3
COMPARE_ROUNDS: Final = 5
PLANS_ROUNDS: Final = 5
TRY_ROUNDS: Final = 3
# Maximum number of plans, and maximum time of a plan as a multiple of the chosen one's.
PLANS: Final = 24
CUT_OFF: Final = 3.0
KILLS: Final = 5
# Interval after the start of the load in which an engine is killed.
KILLED_BETWEEN: Final = "2s-5s"
TUNE_BUDGET: Final = "20m"
DIAGNOSE_BUDGET: Final = "5m"
# Options of a command's runs with another default than in `assay run`.
DURABILITY_RUNS: Final[dict[str, Any]] = {"clients": 4}
WHY_RUNS: Final[dict[str, Any]] = {"min_time": "2s"}
# Runs of a search are shorter than single runs.
TUNE_RUNS: Final[dict[str, Any]] = {
    "min_time": "3s",
    "time": "10s",
    "warmup": "3s",
    "plans": False,
}
# A diagnosis has many runs, so each is short.
DIAGNOSE_RUNS: Final[dict[str, Any]] = {"min_time": "2s", "time": "8s", "warmup": "2s"}
