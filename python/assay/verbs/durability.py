"""`assay durability`: kills an engine under load, and searches for every acknowledged write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.record.places import runs_dir
from assay.report.notebook import LoadedStudy
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.study.declared.facts import asked_budget_s
from assay.study.durability import Crashes, durability_study, parse_between
from assay.study.series import Purpose, Series
from assay.study.several import Terms
from assay.verbs.shared.declared import tell_left_out
from assay.verbs.shared.defaults import DURABILITY_RUNS, KILLED_BETWEEN, KILLS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from assay.study.series import Watcher

# Options for probes that show whether the host was quiet; none queries the engine, which will be
# killed.
OBSERVED = {"warmup": "1s", "probes": "system,processes", "plans": False}


def durability(
    workload: str,
    *,
    kills: int = KILLS,
    copies: int = 0,
    between: str = KILLED_BETWEEN,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> LoadedStudy:
    """Kills an engine under load, and checks that its database lost no acknowledged write.

    Args:
        workload: A workload that declares how its writes can be found again, such as `tpcc`.
        kills: Number of kills. Each kill has its own run.
        copies: Number of device snapshots, which one more run takes.
        between: Interval after the start of the load in which the engine is killed.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of the runs, by the keys of a study's file.

    Raises:
        UsageError: If the runs cannot be made. In this case nothing was run.
        RunFailedError: If a run ended early. Earlier runs are kept, and the same call continues
            after them.
    """
    keys = {"workload": workload, **DURABILITY_RUNS, **OBSERVED, **options}
    base = request_of(options_of(keys), list(options))
    study = durability_study(base, Crashes(kills, copies, parse_between(between)))
    purpose = Purpose(
        f"durability-{Path(workload).name}",
        base.engine,
        {"made_by": "assay durability"},
        workloads=False,
    )
    terms = Terms(asked_budget_s(budget))
    with Series(purpose, runs_dir(runs), watcher or Logged(), terms, again) as series:
        directory = series.begin(study)
        for part, reason in study.without.items():
            series.watcher.remark(f"without part {part}: {reason}")
        tell_left_out(series.make(study), terms, series.watcher)
    return LoadedStudy(directory)
