"""`assay plans`: is the plan that an engine chooses for a query the fastest that it has?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.record.layout import STATUS_COMPLETE
from assay.record.places import runs_dir
from assay.record.reader import Run
from assay.report.notebook import LoadedPlans
from assay.running.asked.asking import considered
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

# How long the chosen plan is timed to know when others take too long.
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
    """Forces other plans of a query than the chosen one; shows what another choice is worth.

    Args:
        workload: Its name or its folder.
        operation: The query.
        most: Plans at most, the chosen one among them.
        repeat: How often each is timed.
        cut_off: A plan is cancelled that takes so many times as long as the chosen one.
        budget: No run is begun that would end after so much time, such as `30m`.
        again: Make all runs again, even if earlier ones exist.
        runs: Directory of runs; `$ASSAY_RUNS`, else `./runs`, unless given.
        watcher: Whoever a person watches by.
        options: Of the runs, by the keys of a study's file.

    Raises:
        UsageError: For a query that there is not, or that nothing can be forced of.
        RunFailedError: If a run ended early; the same call goes on.
    """
    if not 1 < cut_off < float("inf"):
        raise UsageError(f"--cut-off {cut_off:g}: above 1, or the chosen plan itself is cut off")
    keys = {"min_time": CHOSEN_TIME, **options, "workload": workload, "operation": operation}
    base = request_of(options_of(keys), [])
    asked = considered(base)
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
    series = Series(purpose, place, watcher or Logged(), terms, again)
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
    """Runs that ended well, by their parts."""
    if not directory.exists():
        return {}
    return {
        begun.part: Run(place / begun.id)
        for begun in begun_in(directory)
        if begun.status == STATUS_COMPLETE and begun.id is not None
    }
