"""`assay sweep`: runs a workload at several numbers of clients, scales, or values of a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.language import SQL
from assay.record.places import runs_dir
from assay.running.asked.understanding import ENGINE_DEFAULTS
from assay.study.declared.expanding import Wanted, expanded
from assay.study.declared.facts import asked_budget_s
from assay.study.several import Terms
from assay.study.sweep import Sweep, sweep_study, turned
from assay.verbs.shared.declared import carried_out
from assay.verbs.shared.defaults import SWEEP_ROUNDS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.report.notebook import LoadedStudy
    from assay.study.series import Watcher


def sweep(
    workload: str,
    *,
    engine: Sequence[str] = (),
    clients: Sequence[int] = (),
    scale: Sequence[float] = (),
    extrapolate: Sequence[float] = (),
    vary: Sequence[str] = (),
    repeat: int = SWEEP_ROUNDS,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> LoadedStudy:
    """Runs a workload at several numbers of clients, scales, or values of a setting, alternately.

    Args:
        workload: Name or folder of the workload.
        engine: Engines to run at every level; empty means the default of `assay run`.
        clients: Numbers of concurrent sessions.
        scale: Scales of the data.
        extrapolate: Larger scales to predict without a run.
        vary: `KEY=V1,V2`: an option of a run, a knob or a setting, with its values.
        repeat: Number of rounds. Each round makes a run at every level.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of all runs, by the keys of a study's file.

    Raises:
        UsageError: If the runs cannot be made. In this case nothing was run.
    """
    # With several scales, costs are classified by CPU samples.
    keys = {"profile": len(scale) > 1, **options}
    engines = tuple(engine)
    # A running server's engine is known only later, so knobs have no names for it.
    knob_engines = engines or (() if keys.get("dsn") else (ENGINE_DEFAULTS[SQL],))
    factors, settings = turned(vary, knob_engines, keys.get("set", {}))
    keys |= {"set": settings} if settings else {}
    asked = Sweep(
        workload, engines, tuple(clients), tuple(scale), tuple(extrapolate), factors, keys, repeat
    )
    declared = sweep_study(asked)
    allowed = bool(keys.get("allow_host_changes"))
    return carried_out(
        declared,
        expanded(declared, Wanted(allow_host_changes=allowed)),
        {"made_by": "assay sweep"},
        Terms(asked_budget_s(budget), goes_on=True),
        runs_dir(runs),
        watcher or Logged(),
        again=again,
    )
