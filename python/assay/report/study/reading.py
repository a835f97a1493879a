"""Reads the records of a study's runs, each once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from assay.analysis.study_runs import StudyRun
from assay.checks.expected_plan import expected_plan
from assay.checks.judge import judge
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import CheckResult, Verdict
from assay.record.damage import warn_if_damaged
from assay.record.reader import Run
from assay.report.kept import current

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.record.studies import StudyRecord

log = logging.getLogger(__name__)


def read_runs(record: StudyRecord) -> tuple[tuple[StudyRun, ...], dict[str, str]]:
    """Return the readable runs of a study in order, and the errors of the others by run id.

    A record that two parts of the study share is read once. The function warns with
    `DamagedRecordWarning` of each record that changed after it was sealed.
    """
    order = {
        (part.name, variant.name): (at, place)
        for at, part in enumerate(record.parts)
        for place, variant in enumerate(part.variants)
    }
    read: dict[Path, tuple[Run, tuple[CheckResult, ...]]] = {}
    studied, unreadable = [], {}
    kept = sorted(
        record.complete, key=lambda asked: (*order[asked.part, asked.variant], asked.round)
    )
    for asked in kept:
        if asked.path is None:
            continue
        try:
            if asked.path not in read:
                run = Run(asked.path)
                warn_if_damaged(asked.path)
                read[asked.path] = (run, checks_of(run))
        except RecordUnreadableError as error:
            unreadable[asked.path.name] = str(error)
            continue
        run, checks = read[asked.path]
        part = record.part(asked.part)
        if part.expects:
            checks = (*checks, expected_plan(run, part.expects))
        studied.append(StudyRun(asked.part, dict(asked.levels), asked.round, run, checks))
    return tuple(studied), unreadable


def checks_of(run: Run) -> tuple[CheckResult, ...]:
    """Return the results of a run's checks, from its report or computed again."""
    document = current(run.dir)
    if document is None or not document.get("checks"):
        return tuple(judge(run))
    try:
        return tuple(_check(check) for check in document["checks"])
    except (KeyError, TypeError) as error:
        log.warning("the stored report of run %s cannot be read: %r", run.id, error)
        return tuple(judge(run))


def _check(entry: Mapping[str, Any]) -> CheckResult:
    return CheckResult(**{**entry, "verdict": Verdict[str(entry["verdict"]).upper()]})
