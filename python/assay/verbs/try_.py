"""`assay try`: carries out a finding's advice, and compares predicted and measured gain."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from assay.analysis.summarise import summarise
from assay.analysis.try_.calibration import calibrate
from assay.model.errors import RunFailedError, UsageError
from assay.record.damage import refuse_damaged
from assay.record.layout import STATUS_COMPLETE
from assay.record.places import runs_dir
from assay.record.predictions import append_prediction, read_predictions
from assay.record.reader import Run, find_measured_run, took_s
from assay.report.sections.try_ import prediction, trial_document
from assay.running.asked.request import RunRequest
from assay.running.asked.understanding import given_again
from assay.running.server.changed_tables import make_changes
from assay.study.declared.facts import asked_budget_s
from assay.study.series import Purpose, Series
from assay.study.several import Terms, begun_in
from assay.study.try_ import chosen, trial_study
from assay.verbs.shared.declared import tell_left_out
from assay.verbs.shared.defaults import TRY_ROUNDS
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.model.finding import Finding
    from assay.report.documents.try_ import PlacedTrial, PredictionHistory, TryDocument
    from assay.study.series import Watcher
    from assay.study.several import Begun
    from assay.study.variants import Study


def try_(
    run: str | Run,
    finding: str | Finding,
    *,
    repeat: int = TRY_ROUNDS,
    seed: int = 1,
    dsn: str | None = None,
    bin_dir: str | None = None,
    driver: Sequence[str] = (),
    allow_changes: bool = False,
    keep: bool = False,
    budget: str | None = None,
    again: bool = False,
    runs: Path | str | None = None,
    watcher: Watcher | None = None,
) -> TryDocument:
    """Carries out a finding's advice and compares the measured gain with the predicted one.

    Args:
        run: `latest`, an id, the beginning of an id, a path, or an opened record.
        finding: The finding, or its key, such as `spill:q18`, its method or its number.
        repeat: Number of rounds. Each round makes one run without the change and one with it.
        seed: Seed of the order of runs.
        dsn: Address of the running server, because the record does not contain its password.
        bin_dir: Directory of the server's programs, if the run used one: a record, which may come
            from somebody else, does not decide which programs are executed.
        driver: JDBC drivers, if the run used them, for the same reason.
        allow_changes: Allow changes to tables that Assay did not create. Each run reverts its
            changes.
        keep: Make the change again at the end, and leave it in place.
        budget: Time limit of the whole command, such as `30m`. No run starts that would end later.
        again: Repeat all runs, even if earlier ones exist.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        watcher: Receives the progress of the runs.

    Returns:
        The document that `assay try --json` prints.

    Raises:
        UsageError: If the run has no such finding, or its advice cannot be carried out.
        RunFailedError: If a run ended early. The same call continues from there.
    """
    place = runs_dir(runs)
    record = find_measured_run(run, place) if isinstance(run, str) else run
    refuse_damaged(record.dir)
    about = chosen(summarise(record).findings, finding) if isinstance(finding, str) else finding
    if keep and not allow_changes:
        raise UsageError("--keep needs --allow-changes, which makes the change: give both")
    given = given_again(dsn, bin_dir, driver)
    study = trial_study(record, about, repeat, seed, given, allow_changes=allow_changes)
    purpose = Purpose(
        f"try-{record.facts['workload']['name']}",
        record.facts["engine"]["name"],
        {"made_by": "assay try", "run": record.id, "finding": about.key},
        workloads=False,
        expected=lambda _: took_s(record),
    )
    watcher, terms = watcher or Logged(), Terms(asked_budget_s(budget))
    with Series(purpose, place, watcher, terms, again) as series:
        directory = series.begin(study)
        tell_left_out(series.make(study), terms, watcher)
    document = _compared(record, about, study, directory, place)
    if keep:
        keep_change(study)
    _remember(document, directory.name, place)
    return {**document, "calibration": history(place)}


def _compared(
    record: Run, about: Finding, study: Study, directory: Path, place: Path
) -> PlacedTrial:
    """Return the document of a trial whose runs have ended.

    Raises:
        RunFailedError: If no round was completed.
    """
    before, after = (variant.name for variant in study.parts[0].variants)
    begun = begun_in(directory)
    # A budget may have ended within a round.
    rounds = list(zip(_runs(begun, before, place), _runs(begun, after, place), strict=False))
    if not rounds:
        raise RunFailedError("the budget was too small for one round: use a larger --budget")
    return {**trial_document(record, about, after, rounds), "study": str(directory)}


def _remember(document: PlacedTrial, study: str, place: Path) -> None:
    """Append the predicted and the measured saving to the file of predictions, once."""
    if study not in {row.get("study") for row in read_predictions(place)}:
        now = datetime.now(tz=UTC).isoformat(timespec="seconds")
        append_prediction(place, prediction(document, now) | {"study": study})


def history(runs: Path | str | None = None) -> PredictionHistory:
    """Returns how often predictions came true so far, as `assay try --history --json` prints it.

    Args:
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
    """
    calibration = calibrate(read_predictions(runs_dir(runs)))
    return cast("PredictionHistory", calibration.facts())


def keep_change(study: Study) -> None:
    """Make the change of a study's last variant permanently."""
    request = study.parts[0].variants[-1].request
    assert isinstance(request, RunRequest)  # noqa: S101 - advice is about runs of a workload
    make_changes(request)


def _runs(begun: Sequence[Begun], variant: str, place: Path) -> list[Run]:
    """Return the successful runs of a variant, by round."""
    ids = {
        run.round: run.id
        for run in begun
        if run.variant == variant and run.id is not None and run.status == STATUS_COMPLETE
    }
    return [Run(place / ids[number]) for number in sorted(ids)]
