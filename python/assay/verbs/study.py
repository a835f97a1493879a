"""`assay study`: makes all runs of a study in alternating order, and a report from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError, suggestion
from assay.record.places import runs_dir
from assay.study.declared.expanding import Wanted, expanded
from assay.study.declared.facts import asked_budget_s
from assay.study.declared.reading import find_declared
from assay.study.several import Terms
from assay.verbs.shared.declared import carried_out
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.report.notebook import LoadedStudy
    from assay.study.declared.expanding import Expanded
    from assay.study.series import Watcher


def study(
    which: str,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    engine: Sequence[str] = (),
    workload: str | None = None,
    allow_host_changes: bool = False,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
) -> LoadedStudy:
    """Carries out a study.

    Args:
        which: Name or file of the study.
        quick: Run the short form that the study declares.
        only: Parts to carry out; empty means all.
        engine: Engine to use instead of the study's engines.
        workload: Workload to use instead of the study's.
        allow_host_changes: Whether runs may change settings that affect other users of the host.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.

    Raises:
        UsageError: If the file has an error, or the runs cannot be made. In this case nothing was
            run.
    """
    declared = find_declared(which)
    asked = expanded(declared, Wanted(quick, tuple(engine), workload, allow_host_changes))
    return carried_out(
        declared,
        asked,
        {"made_by": "assay study", "quick": quick},
        _terms(asked, only, budget),
        runs_dir(runs),
        watcher or Logged(),
        again=again,
    )


def _terms(asked: Expanded, only: Sequence[str], budget: str | None) -> Terms:
    """Return the limits of this execution of the study, such as its time budget."""
    names = [part.name for part in asked.study.parts]
    for part in only:
        if part in asked.without:
            raise UsageError(f"--only {part}: {asked.without[part]}")
        if part not in names:
            raise UsageError(
                f"--only {part}: the study has no such part; {suggestion(part, names)}"
            )
    seconds = asked.budget_s if budget is None else asked_budget_s(budget)
    return Terms(seconds, frozenset(only) if only else None, goes_on=True)
