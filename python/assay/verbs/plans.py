"""`assay plans`: compares the plan that an engine chooses for a query with its other plans."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.record.layout import STATUS_COMPLETE
from assay.record.places import runs_dir
from assay.record.reader import Run
from assay.report.notebook import LoadedPlans
from assay.running.asked.asking import considered
from assay.running.asked.obtaining import with_schema
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.study.declared.facts import asked_budget_s
from assay.study.plans import Forcing, Search, Ways
from assay.study.series import Purpose, Series
from assay.study.several import Terms, begun_in
from assay.verbs.shared.declared import tell_left_out
from assay.verbs.shared.defaults import CUT_OFF, PLANS, PLANS_ROUNDS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from pathlib import Path

    from assay.study.series import Watcher

# Duration of timing the chosen plan, from which the time limit of other plans follows.
CHOSEN_TIME = "1s"


def plans(
    workload: str,
    *,
    operation: str,
    most: int = PLANS,
    repeat: int = PLANS_ROUNDS,
    cut_off: float = CUT_OFF,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> LoadedPlans:
    """Forces other plans of a query than the chosen one, and shows how much time each would save.

    Args:
        workload: Name or folder of the workload.
        operation: The query to execute with other plans.
        most: Maximum number of plans, including the chosen one.
        repeat: Number of timings of each plan.
        cut_off: Cancel a plan that takes this many times as long as the optimiser's plan.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of the runs, by the keys of a study's file.

    Raises:
        UsageError: If the query does not exist, or no other plan of it can be forced.
        RunFailedError: If a run ended early. The same call continues from there.
    """
    if not 1 < cut_off < float("inf"):
        raise UsageError(
            f"--cut-off {cut_off:g}: write a factor above 1, because 1 would stop the chosen "
            "plan itself"
        )
    keys = {"min_time": CHOSEN_TIME, **options, "workload": workload, "operation": operation}
    base = request_of(options_of(keys), [])
    asked = with_schema(considered(base))
    forcing = Forcing(most, repeat, cut_off)
    search = Search(base, Ways(asked), forcing)
    place = runs_dir(runs)
    about = {
        "made_by": "assay plans",
        "operation": search.ways.operation,
        "workloads": {asked.workload.facts.name: asked.workload.content_hash},
        **asdict(forcing),
    }
    purpose = Purpose(
        f"plans-{search.ways.operation}", base.engine, about, workloads=False, grows=True
    )
    terms = Terms(asked_budget_s(budget))
    with Series(purpose, place, watcher or Logged(), terms, again) as series:
        directory = series.begin(search.study({}))
        while True:
            there = _runs(directory, place)
            study = search.study(there)
            if all(part.name in there for part in study.parts):
                return LoadedPlans(directory)
            outcome = series.make(study)
            if outcome.left_out:
                tell_left_out(outcome, terms, series.watcher)
                return LoadedPlans(directory)


def _runs(directory: Path, place: Path) -> dict[str, Run]:
    """Return the successful runs of a study by their section."""
    if not directory.exists():
        return {}
    return {
        begun.part: Run(place / begun.id)
        for begun in begun_in(directory)
        if begun.status == STATUS_COMPLETE and begun.id is not None
    }
