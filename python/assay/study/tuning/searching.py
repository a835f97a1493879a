"""Executes a search for better settings: makes runs, then plans the next ones."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from hashlib import sha256
from statistics import median
from typing import TYPE_CHECKING, Any

from assay.analysis.metrics import BY_NAME, LOAD, ORDER, TEST, kind_of_metric, seconds_of
from assay.analysis.study_runs import StudyRun
from assay.analysis.tune.search import Trial, metric_of, setting_words, trial_of
from assay.model.errors import RecordUnreadableError, RunFailedError, UsageError, suggestion
from assay.record.reader import Run
from assay.record.studies import STUDY_FILE, read_study, read_study_file
from assay.report.study.reading import checks_of
from assay.study.tuning.planning import Left, Tune, limit_s
from assay.study.variants import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.studies import StudyRecord
    from assay.running.asked.asked_run import Asked
    from assay.study.series import Series
    from assay.study.variants import Part


def check_objective(name: str | None, asked: Asked) -> None:
    """Refuse a metric to optimise that these runs do not measure."""
    if name is None:
        return
    request = asked.request
    kind = LOAD if request.clients else TEST if request.test else ORDER
    operations = [] if kind == LOAD else list(asked.plan["operations"])
    # Operations of a test also follow one another.
    kinds = (None, kind) if kind == LOAD else (None, kind, ORDER)
    metrics = [metric.name for metric in BY_NAME.values() if kind_of_metric(metric) in kinds]
    if name in (names := [*metrics, *operations]):
        return
    if name in BY_NAME:
        of = kind_of_metric(BY_NAME[name])
        mend = {
            LOAD: "a mix has it: say --clients",
            TEST: "a test has it: say --test",
            ORDER: "operations one after another have it: leave --clients and --test out",
        }
        raise UsageError(
            f"--objective {name}: these runs do not have this metric; {mend[str(of)]}, or one "
            f"of {', '.join(names)}"
        )
    raise UsageError(f"--objective {name}: no such metric; {suggestion(name, names)}")


class Search:
    """A search for better settings in progress."""

    def __init__(self, asked_for: Tune, series: Series) -> None:
        self._tune = asked_for
        self._series = series
        self._budget_s = series.terms.budget_s or 0.0
        self._known: dict[tuple[str, str], Trial] = {}
        first = asked_for.following([], [], Left(None, 1.0)) or []
        ends = Study("", (asked_for.ends(),))
        self._directory = series.begin(asked_for.study(first, {}), ends)

    def carry_out(self) -> None:
        """Execute steps of the search until it is decided or the budget ends.

        Raises:
            AssayError: If the run with default settings fails, or the search ended early.
            KeyboardInterrupt: On Ctrl-C; the runs so far are kept.
        """
        parts = self._parts()
        while True:
            if parts and not self._made(parts):
                self._series.watcher.remark(
                    "the budget ended: the same command with a larger --budget goes on"
                )
                return
            self._learn_limit(parts)
            following = self._tune.following(parts, self.trials(), self._left())
            if following is None:
                # The last failures are recorded, too.
                self._made(parts)
                return
            parts = following

    def trials(self) -> list[Trial]:
        """Return all runs of the settings search, including failed ones without a record."""
        if not (record := self._record()):
            return []
        failed = [
            Trial(
                run.part,
                setting_words(run.levels),
                dict(run.levels),
                run.round,
                None,
                None,
                run.reason or run.status,
            )
            for run in record.failed()
        ]
        return [*self._complete(record), *failed]

    def _complete(self, record: StudyRecord) -> list[Trial]:
        """Return the successful runs of the search, each record read once."""
        for recorded in record.complete:
            if recorded.path is None or (recorded.part, recorded.path.name) in self._known:
                continue
            try:
                run = Run(recorded.path)
                study_run = StudyRun(
                    recorded.part, dict(recorded.levels), recorded.round, run, checks_of(run)
                )
            except RecordUnreadableError as error:
                self._series.watcher.remark(str(error))
                continue
            metric = metric_of(self._tune.metric, study_run)
            self._known[recorded.part, recorded.path.name] = trial_of(study_run, metric)
        order = [part.name for part in record.parts]
        return sorted(self._known.values(), key=lambda trial: order.index(trial.part))

    def _record(self) -> StudyRecord | None:
        is_there = (self._directory / STUDY_FILE).exists()
        return read_study(self._directory) if is_there else None

    def _parts(self) -> list[Part]:
        """Return the stored sections of the search, and set the time limit."""
        if self._record() is None:
            return []
        rows = read_study_file(self._directory / STUDY_FILE)["parts"]
        self._learn_limit([self._tune.part_again(row) for row in rows[:1]])
        return [self._tune.part_again(row) for row in rows]

    def _learn_limit(self, parts: Sequence[Part]) -> None:
        """Set the time limit of operations from the default settings' slowest operation.

        Raises:
            RunFailedError: If the default has no value.
        """
        if not parts or self._tune.limit_s is not None:
            return
        record = self._record()
        if record is None or not (complete := self._complete(record)):
            return
        first = complete[0]
        if first.cost is None:
            raise RunFailedError(
                "nothing can be tuned, because the run with default settings failed: "
                f"{first.reason}"
            )
        path = record.complete[0].path
        if self._tune.base.clients is None and path is not None:
            seconds = [time_s for time_s in seconds_of(Run(path)).values() if time_s is not None]
            self._tune = replace(self._tune, limit_s=limit_s(max(seconds)) if seconds else None)

    def _made(self, parts: Sequence[Part]) -> bool:
        """Execute the remaining runs of these sections; return whether the budget sufficed."""
        failed = {
            trial.setting: trial.reason or "" for trial in self.trials() if trial.cost is None
        }
        is_first = len(parts) == 1
        terms = replace(self._series.terms, goes_on=not is_first, once=not is_first)
        return not self._series.make(self._tune.study(parts, failed), terms).left_out

    def _left(self) -> Left:
        """Return the remaining budget, in runs of average duration."""
        record = self._record()
        if record is None:
            return Left(None, 1.0)
        document = read_study_file(self._directory / STUDY_FILE)
        left_s = max(0.0, self._budget_s - float(document.get("spent_s", 0.0)))
        # The first run may include obtaining the engine and loading the data.
        took = [run.seconds for run in record.complete[1:] if run.seconds is not None]
        runs = math.floor(left_s / median(took)) if took else None
        return Left(runs, left_s / self._budget_s if self._budget_s else 0.0)


def search_facts(asked_for: Tune, asked: Asked) -> dict[str, Any]:
    """Return the facts by which an unfinished search is found again."""
    facts = [
        asked_for.base.facts(),
        [knob.facts() for knob in asked_for.knobs],
        asked_for.metric,
        asked.workload.content_hash,
    ]
    text = json.dumps(facts, sort_keys=True, default=str)
    return {
        "made_by": "assay tune",
        "asked": sha256(text.encode()).hexdigest(),
        "knobs": [knob.facts() for knob in asked_for.knobs],
        "workloads": {asked.workload.facts.name: asked.workload.content_hash},
    }
