"""`assay diagnose`: tries the causes of a run by experiments, and keeps what makes it faster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from assay.analysis.try_.calibration import calibrate
from assay.checks.outcomes import failure_of_most
from assay.model.errors import (
    RecordDamagedError,
    RecordUnreadableError,
    RunFailedError,
    UsageError,
)
from assay.record.damage import refuse_damaged
from assay.record.places import runs_dir
from assay.record.predictions import append_prediction, read_predictions
from assay.record.reader import find_measured_run, took_s
from assay.report.diagnosis.build import build_diagnosis
from assay.report.diagnosis.document import diagnose_document
from assay.report.diagnosis.remembering import decided_prediction
from assay.running.asked.options import options_of
from assay.running.asked.request import recorded_request
from assay.running.asked.understanding import given_again, request_of
from assay.study.declared.facts import asked_budget_s
from assay.study.diagnosing.stages import Diagnosing
from assay.study.experiments.discovery import experiments
from assay.study.series import Purpose, Series, documents_made_before, made_pilot, pilot_before
from assay.study.several import Terms
from assay.verbs.shared.defaults import DIAGNOSE_BUDGET, DIAGNOSE_RUNS
from assay.verbs.shared.watching import Logged
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.analysis.try_.calibration import Calibration
    from assay.record.reader import Run
    from assay.report.documents.diagnose import DiagnoseDocument, Experimented, PlacedDiagnosis
    from assay.running.asked.request import RunRequest
    from assay.study.series import Watcher

MADE_BY, FIRST_BUDGET = "assay diagnose", "first_budget_s"
# Maximum repetition of an existing run's order in seconds, because a diagnosis repeats the run
# often.
MIN_TIME_MAX_S = 2.0


@dataclass(frozen=True)
class _Asked:
    """The run whose causes are tried by experiments.

    Attributes:
        base: Request of the run.
        pilot: A finished run of this request.
        about: Facts by which an earlier diagnosis of it is found.
        pilot_is_part: Whether the diagnosis made the run, so that its time is within the budget.
    """

    base: RunRequest
    pilot: Run
    about: dict[str, Any]
    pilot_is_part: bool


def diagnose(
    what: str,
    *,
    operation: str | list[str] | None = None,
    budget: str | None = None,
    dsn: str | None = None,
    allow_changes: bool = False,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> PlacedDiagnosis:
    """Tries the causes of a run by experiments, and keeps what makes it faster, step by step.

    Args:
        what: Name or folder of a workload, which is run first; or a run: `latest`, an id, the
            beginning of an id, or a path.
        operation: Restrict to these operations; None means the operations of the run, or all.
        budget: Time limit of the whole command; None means 5 minutes. No run starts that would end
            later.
        dsn: A running server. The DSN is needed again for a recorded run, because records hold no
            password.
        allow_changes: Allow changes to tables that Assay did not create. Each run reverts its
            changes.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.
        options: Options of all runs of a workload, by the keys of a study's file.

    Returns:
        The document that `assay diagnose --json` prints.

    Raises:
        UsageError: If no workload or run has this name, or if options are given for a recorded run,
            which has its own.
        RunFailedError: If the run without changes fails, or most of its operations.
    """
    place, watching = runs_dir(runs), watcher or Logged()
    names = [operation] if isinstance(operation, str) else list(operation or [])
    if dsn is not None:
        options["dsn"] = dsn
    if names:
        options["operation"] = names
    budget_s = asked_budget_s(budget or DIAGNOSE_BUDGET)
    asked = _checked(_asked(what, options, place, watching, again=again))
    run_s = took_s(asked.pilot)
    used_s = (run_s or 0.0) if asked.pilot_is_part else 0.0
    if budget_s is not None:
        budget_s = max(0.0, budget_s - used_s)
    terms = Terms(budget_s)
    about = {**asked.about, "allow_changes": allow_changes}
    first_s = budget_s if again else _first_budget_s(about, place, budget_s)
    if first_s is not None:
        about = {**about, FIRST_BUDGET: first_s}
    purpose = Purpose(
        f"diagnose-{asked.pilot.facts['workload']['name']}",
        asked.base.engine,
        about,
        workloads=False,
        grows=True,
        expected=lambda _: run_s,
    )
    history = _known_before(asked.pilot, place)
    with Series(purpose, place, watching, terms, again) as series:
        diagnosing = Diagnosing(
            asked.base, asked.pilot, series, history, allow_changes, budget_s=first_s, used_s=used_s
        )
        way = diagnosing.carry_out()
    document = diagnose_document(way, names, _declared(), history, run_s)
    return _placed(document, diagnosing.directory, place)


def _first_budget_s(about: Mapping[str, Any], place: Path, budget_s: float | None) -> float | None:
    """Return the time limit of the diagnosis that this one continues, or else its own limit.

    The number of parallel causes depends on it, and stays if the limit grows.
    """
    before = next(documents_made_before(place, about), None)
    return budget_s if before is None else before["about"].get(FIRST_BUDGET)


def _known_before(pilot: Run, place: Path) -> Calibration:
    """Return the outcomes of earlier predictions, up to the start of this run."""
    begun_utc = pilot.facts["started_utc"]
    rows = [row for row in read_predictions(place) if str(row.get("time_utc", "")) < begun_utc]
    return calibrate(rows)


def _declared() -> dict[str, Experimented]:
    """Return the declaration of each experiment, by its kind."""
    return {
        kind: {
            "kind": kind,
            "changes": experiment.changes,
            "set_up": experiment.set_up,
            "undo": experiment.undo,
            "stays": experiment.stays,
            "gain_means": experiment.gain_means,
        }
        for kind, experiment in experiments().items()
    }


def _placed(document: DiagnoseDocument, directory: Path | None, place: Path) -> PlacedDiagnosis:
    """Return the document of a diagnosis with its page, after recording the decisions.

    Args:
        document: Document without its location.
        directory: Directory of its study; None if only the run itself exists.
        place: Directory of runs.
    """
    if directory is None:
        return {**document, "study": "", "page": None}
    _remember(document, directory, place)
    return build_diagnosis(document, directory)


def _asked(
    what: str, options: dict[str, Any], place: Path, watcher: Watcher, *, again: bool
) -> _Asked:
    """Return a new run of the workload, or the existing run, to diagnose."""
    if not _is_workload(what):
        return _of_run(what, options, place)
    keys = {**DIAGNOSE_RUNS, **options, "workload": what}
    base = request_of(options_of(keys), list(options))
    asked = sha256(json.dumps(base.facts(), sort_keys=True).encode()).hexdigest()
    about = {"made_by": MADE_BY, "asked": asked}
    pilot = None if again else pilot_before(place, about)
    if pilot is None:
        pilot = made_pilot(base, place, watcher, about)
    return _Asked(base, pilot, {**about, "pilot": pilot.id}, pilot_is_part=True)


def _checked(asked: _Asked) -> _Asked:
    """Return a diagnosis whose run has enough operations that succeeded.

    Raises:
        RunFailedError: If most of them failed.
    """
    if (failure := failure_of_most(asked.pilot)) is not None:
        raise RunFailedError(f"the run {asked.pilot.id} cannot be diagnosed: {failure}")
    return asked


def _is_workload(what: str) -> bool:
    try:
        find_workload(what)
    except UsageError:
        return False
    return True


def _of_run(what: str, options: dict[str, Any], place: Path) -> _Asked:
    try:
        pilot = find_measured_run(what, place)
    except RecordDamagedError:
        raise
    except RecordUnreadableError as error:
        raise UsageError(
            f"{what!r} is neither a workload (see `assay workloads`) nor the directory of a run:"
            f" {error}"
        ) from error
    refuse_damaged(pilot.dir)
    if strange := sorted(set(options) - {"dsn", "bin_dir", "driver", "operation"}):
        raise UsageError(
            f"{what} is a run and has its own {strange[0]!r}: remove the option, or name a workload"
        )
    given = given_again(options.get("dsn"), options.get("bin_dir"), options.get("driver") or ())
    base = recorded_request(pilot.facts["request"], given)
    base = base.changed(min_time_s=min(base.min_time_s, MIN_TIME_MAX_S))
    names = options.get("operation") or []
    if unknown := sorted(set(names) - set(pilot.facts["plan"]["operations"])):
        raise UsageError(f"the run {pilot.id} has no operation {unknown[0]!r}")
    if names:
        base = base.changed(operations=list(names))
    about = {"made_by": MADE_BY, "pilot": pilot.id, "operations": list(names)}
    return _Asked(base, pilot, about, pilot_is_part=False)


def _remember(document: DiagnoseDocument, directory: Path, place: Path) -> None:
    """Append the decisions of a diagnosis to the file of predictions, once."""
    recorded = {
        (row.get("study"), row.get("finding"), row.get("change")) for row in read_predictions(place)
    }
    now = datetime.now(tz=UTC).isoformat(timespec="seconds")
    for step in document["steps"]:
        for tried in step["tried"]:
            of = directory.name, tried["key"], tried["change"]
            # A slowed resource and a change that is left out again were no predictions.
            no_prediction = tried["dependence"] is not None or tried.get("takes_back") is not None
            if tried["verdict"] == "undecided" or no_prediction or of in recorded:
                continue
            row = decided_prediction(document, tried, directory.name, now)
            append_prediction(place, row)
            recorded.add(of)
