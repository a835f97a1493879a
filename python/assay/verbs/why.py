"""`assay why`: finds the resource that bounds a workload's operations, by limiting each."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError
from assay.record.layout import KIND_CEILING
from assay.record.places import runs_dir
from assay.record.reader import took_s
from assay.report.notebook import LoadedWhy
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.study.ceiling.newest import begin_with, newest_look
from assay.study.declared.facts import asked_budget_s
from assay.study.series import Purpose, Series, made_pilot, pilot_before
from assay.study.several import Terms
from assay.study.why import QUICK, SCARCE, Depth, why_study
from assay.verbs.shared.defaults import WHY_RUNS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from pathlib import Path

    from assay.study.series import Watcher

MADE_BY = "assay why"


def why(
    workload: str,
    *,
    quick: bool = False,
    repeat: int | None = None,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> LoadedWhy:
    """Finds the resource that bounds a workload's operations, by limiting one after another.

    Args:
        workload: Name or folder of the workload.
        quick: Use fewer levels and rounds, which gives wider intervals.
        repeat: Number of rounds; None means five, or three with `quick`.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of all runs, by the keys of a study's file.

    Raises:
        UsageError: If no resource can be limited on this host.
        RunFailedError: If the first run fails, or no later run succeeds.
    """
    keys = {**WHY_RUNS, **options, "workload": workload}
    base = request_of(options_of(keys), list(options))
    depth = QUICK if quick else Depth()
    depth = depth if repeat is None else replace(depth, repetitions=repeat)
    place, watching = runs_dir(runs), watcher or Logged()
    terms = Terms(asked_budget_s(budget), goes_on=True)
    asked = sha256(json.dumps([base.facts(), asdict(depth)], sort_keys=True).encode()).hexdigest()
    about = {"made_by": MADE_BY, "asked": asked}
    pilot = None if again else pilot_before(place, about)
    # The resource use of a run without changes determines the limits.
    pilot = pilot or made_pilot(base, place, watching, about)
    look = newest_look(place, pilot)
    study = why_study(base, pilot, depth, look)
    purpose = Purpose(
        f"why-{pilot.facts['workload']['name']}",
        base.engine,
        {**about, "pilot": pilot.id},
        workloads=False,
    )
    if terms.budget_s is not None:
        terms = replace(terms, budget_s=max(0.0, terms.budget_s - (took_s(pilot) or 0.0)))
    with Series(purpose, place, watching, terms, again) as series:
        directory = series.begin(study)
        has_look = any(part.kind == KIND_CEILING for part in study.parts)
        if not directory.exists() and look is not None and has_look:
            begin_with(directory, study, purpose.about, look)
        for what, reason in study.without.items():
            watching.remark(f"not made: {what}: {reason}")
        outcome = series.make(study)
    if outcome.left_out:
        of = len(study.order())
        watching.remark(f"the budget leaves out {len(outcome.left_out)} of {of} runs")
    quoted_path = shlex.quote(str(directory))
    if not any(begun.part == SCARCE for begun in outcome.complete):
        raise RunFailedError(
            "the budget left no time for a run: the same command with a larger --budget goes on"
            if len(outcome.left_out) == len(study.order())
            else f"no run of the study ended well: assay show {quoted_path}"
        )
    return LoadedWhy(directory)
