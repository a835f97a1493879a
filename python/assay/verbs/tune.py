"""`assay tune`: searches settings of an engine, and recommends one if it is better beyond noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.tune.search import hold_outs
from assay.record.places import runs_dir
from assay.report.notebook import LoadedStudy
from assay.running.asked.asking import considered
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.study.declared.facts import asked_budget_s
from assay.study.series import Purpose, Series
from assay.study.several import Terms
from assay.study.tuning.knobs import searched_knobs
from assay.study.tuning.planning import Tune
from assay.study.tuning.searching import Search, check_objective, search_facts
from assay.verbs.shared.defaults import TUNE_BUDGET, TUNE_RUNS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.study.series import Watcher


@dataclass(frozen=True)
class Tuned:
    """The result of a search.

    Attributes:
        study: Its runs, and the article that is made of them.
        is_better: Whether a setting is recommended: it is better than the default beyond noise.
        is_decided: Whether a larger budget would not go on.
    """

    study: LoadedStudy
    is_better: bool
    is_decided: bool


def tune(
    workload: str,
    *,
    knob: Sequence[str] = (),
    objective: str | None = None,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> Tuned:
    """Searches settings of an engine that make a workload faster than its default does.

    Args:
        workload: Its name or its folder.
        knob: `NAME=LOW..HIGH`, `NAME=a,b,c` or `NAME`; none: those that the engine names.
        objective: A metric of runs, or an operation; None: seconds of all operations, or of a mix
            operations a second.
        budget: No run is begun that would end after so much time; None: 20 minutes.
        again: Make all runs again, even if earlier ones exist.
        runs: Directory of runs; `$ASSAY_RUNS`, else `./runs`, unless given.
        watcher: Whoever a person watches by.
        options: Of all runs, by the keys of a study's file.

    Raises:
        UsageError: For a setting that the engine does not know or refuses, or an objective that
            these runs have no figure of; nothing was run.
        RunFailedError: If the default itself fails.
    """
    keys = {**TUNE_RUNS, **options, "workload": workload}
    base = request_of(options_of(keys), list(options))
    asked = considered(base)
    knobs = searched_knobs(knob, asked.engine.knobs(), base.engine)
    titles = (asked.engine.facts.title, asked.workload.facts.title)
    check_objective(objective, asked)
    terms = Terms(asked_budget_s(budget or TUNE_BUDGET))
    searched = Tune(base, knobs, objective, titles=titles)
    purpose = Purpose(
        f"tune-{asked.workload.facts.name}",
        base.engine,
        search_facts(searched, asked),
        workloads=False,
        grows=True,
    )
    series = Series(purpose, runs_dir(runs), watcher or Logged(), terms, again)
    search = Search(searched, series)
    search.carry_out()
    held = hold_outs(search.trials())
    return Tuned(
        LoadedStudy(series.directory),
        any(hold_out.is_better for hold_out in held),
        not held or held[-1].is_given_up,
    )
