"""`assay compare`: two engines, versions or settings, and what explains the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.record.places import runs_dir
from assay.study.compare import CompareAsked, check_durability, comparison_study
from assay.study.declared.expanding import Wanted, expanded
from assay.study.declared.facts import asked_budget_s
from assay.study.several import Terms
from assay.verbs.shared.declared import carried_out
from assay.verbs.shared.defaults import COMPARE_ROUNDS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.report.notebook import LoadedStudy
    from assay.study.series import Watcher


def compare(
    workload: str,
    *,
    engine: Sequence[str] = (),
    vary: Sequence[str] = (),
    a: Sequence[str] = (),
    b: Sequence[str] = (),
    alike: bool = False,
    unequal_durability: bool = False,
    repeat: int = COMPARE_ROUNDS,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> LoadedStudy:
    """Compares two engines, versions or settings, and attributes the difference to its causes.

    Args:
        workload: Name or folder of the workload.
        engine: Engine of each side. One engine alone is used on both sides.
        vary: `KEY=V1,V2`: an option of a run or a setting, with its value on each side.
        a: `KEY=VALUE`: an option or setting of the first side only.
        b: `KEY=VALUE`: an option or setting of the second side only.
        alike: Compare a side with itself, so that every difference is noise.
        unequal_durability: Compare even if commits survive fewer kinds of failure on one side.
        repeat: Number of rounds. Each round runs both sides once.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of all runs, by the keys of a study's file.

    Raises:
        UsageError: For sides that cannot be compared, or runs that cannot be made.
        EngineError: If one of the engines cannot be obtained. In this case nothing was run.
    """
    keys = {"profile": True, **options}
    sides = CompareAsked(
        workload, tuple(engine), tuple(vary), tuple(a), tuple(b), alike, keys, repeat
    )
    declared = comparison_study(sides)
    allowed = bool(keys.get("allow_host_changes"))
    asked = expanded(declared, Wanted(allow_host_changes=allowed))
    check_durability(asked.study, allowed=unequal_durability)
    return carried_out(
        declared,
        asked,
        {"made_by": "assay compare"},
        Terms(asked_budget_s(budget), goes_on=True),
        runs_dir(runs),
        watcher or Logged(),
        again=again,
        all_engines=True,
    )
