"""`assay tune`: searches settings of an engine; recommends one if its gain exceeds noise."""

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
    """The result of a search for better settings.

    Attributes:
        study: The study with the runs of the search and its report.
        is_better: Whether a setting is recommended, because its gain over the default exceeds
            noise.
        is_decided: Whether the search is finished, so that a larger budget would change nothing.
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
    """Searches settings of an engine that make a workload faster than the defaults.

    Args:
        workload: Name or folder of the workload.
        knob: Settings to search: `NAME=LOW..HIGH`, `NAME=a,b,c` or `NAME`; empty means those that
            the engine declares.
        objective: A metric of runs, or an operation; None means total seconds of all operations, or
            operations a second for a mix.
        budget: Time limit of the whole command; None means 20 minutes. No run starts that would end
            later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of all runs, by the keys of a study's file.

    Raises:
        UsageError: If the engine does not have or refuses a setting, or if these runs do not
            measure the objective. In this case nothing was run.
        RunFailedError: If the run with default settings fails.
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
    with Series(purpose, runs_dir(runs), watcher or Logged(), terms, again) as series:
        search = Search(searched, series)
        search.carry_out()
    held = hold_outs(search.trials())
    return Tuned(
        LoadedStudy(series.directory),
        any(hold_out.is_better for hold_out in held),
        not held or held[-1].is_given_up,
    )
