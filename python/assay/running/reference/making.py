"""Computes the expected rows of a run's queries in a separate process.

An answer may belong to any of several states of the data. The most likely state is tried first, and
no other once one matches. A right answer is therefore cheap, and only a wrong one costs all its
states.
"""

from __future__ import annotations

import re
import resource
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.answers.compared import Compared
from assay.analysis.answers.comparison import expected_text
from assay.analysis.answers.states import Refresh, distinct, executions
from assay.record.layout import EXPECTED_DIR, EXPECTED_ORIGIN_FILE, RAW_DIR, RESULTS_DIR
from assay.record.reader import Run
from assay.record.writer import write_json
from assay.running.reference import engine as reference_engine
from assay.running.reference.cache import ReferenceCache
from assay.running.reference.engine import GRAMMAR, NotAnsweredError, ReferenceEngine
from assay.running.reference.loading import loaded
from assay.workloads.queries import reads

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from assay.engines.contract import Tell

# Format version of kept answers, in addition to the parts of their key.
FORMAT = 1
KIB = 1024


_NOT_FOUND = re.compile(r"\btable '(?:[^'.]*\.)*([^'.]+)' not found")


@dataclass
class _Wanted:
    """One distinct query result of a run, and the data states that it may belong to."""

    operation: str
    variant: int
    digest: int
    states: list[int]


class ReferenceMaking:
    """A job that computes the expected rows of a run.

    Args:
        job: Job in the form that `study.reference` sends.
        tell: Receives the progress.
    """

    def __init__(self, job: Mapping[str, Any], tell: Tell) -> None:
        self._job = job
        self._tell = tell
        self._run = Run(Path(job["run"]))
        self._folder = self._run.dir / RAW_DIR / RESULTS_DIR / EXPECTED_DIR
        self._ordered_by: dict[str, list[str]] = {}
        self._compared = Compared(self._run, self._ordered_by)
        self._cache = ReferenceCache(Path(job["cache"]))
        self._texts = {(row["operation"], row["variant"]): row["text"] for row in job["texts"]}
        self._views = set(job.get("views", ()))
        self._changed = set(job["refresh"]["changed"]) if job["refresh"] else set()
        self._reads: dict[str, bool] = {}
        self._engine: ReferenceEngine | None = None
        self._not_made: dict[tuple[str, int], dict[str, Any]] = {}
        self._over = self._made = self._kept = 0

    def make(self) -> dict[str, Any]:
        """Write the files of expected rows; return facts for `origin.json`.

        Raises:
            RunFailedError: If the data do not fit into memory.
        """
        begun_s = time.monotonic()
        self._cache.sweep()
        pending = self._wanted()
        expected = len(pending)
        while pending:
            # States are processed in order, because changing to another state costs time.
            tried, pending = sorted(pending, key=lambda wanted: wanted.states[0]), []
            for wanted in tried:
                if self._try(wanted):
                    pending.append(wanted)
                else:
                    self._over += 1
                    self._tell("reference answers", self._over, expected, "answers")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
        return {
            "engine": f"{reference_engine.TITLE} {reference_engine.version()}",
            "rows_of": f"generator {self._job['generator']}, scale {self._job['scale']:g}",
            "files": self._made + self._kept,
            "files_kept_from_before": self._kept,
            "seconds": round(time.monotonic() - begun_s, 3),
            "peak_bytes": peak,
            "ordered_by": self._ordered_by,
            "not_made": list(self._not_made.values()),
        }

    def _wanted(self) -> list[_Wanted]:
        """Return query results that need expected rows, each with its possible data states."""
        refresh = Refresh.of(self._run.facts.get("test"))
        asked = distinct(executions(self._run.table("events"), refresh))
        all_wanted = []
        for answer in asked.iter_rows(named=True):
            first, last = answer["state_first"], answer["state_last"]
            nobody_knows = first is None or (refresh and refresh.many and first < last)
            if nobody_knows or not self._compared.kept(answer["operation"], answer["digest"]):
                continue
            likely = answer["state_likely"]
            states = sorted(range(first, last + 1), key=lambda state: abs(state - likely))
            key = (answer["operation"], answer["variant"], answer["digest"])
            all_wanted.append(_Wanted(*key, states))
        return [
            wanted for wanted in all_wanted if (wanted.operation, wanted.variant) in self._texts
        ]

    def _try(self, wanted: _Wanted) -> bool:
        """Compare a result with its next likely data state; return True if another is needed."""
        state = wanted.states.pop(0)
        path = self._run.expected(wanted.operation, wanted.variant, state)
        if path is None:
            path = self._written(wanted.operation, wanted.variant, state)
        if path is None:
            return False
        fits = self._compared.difference(wanted.operation, wanted.digest, path) is None
        return not fits and bool(wanted.states)

    def _written(self, operation: str, variant: int, state: int) -> Path | None:
        """Compute and write a file of expected rows; None if that is impossible."""
        try:
            answer = self._answer(self._texts[operation, variant], state)
        except NotAnsweredError as error:
            why = _without_view(str(error), self._views)
            about = {"operation": operation, "variant": variant, "why": why}
            self._not_made.setdefault((operation, variant), about)
            return None
        self._keep_order(operation, answer["ordered_by"])
        plain = self._job["plain"] and state == 0
        name = f"{operation}.csv" if plain else f"{operation}-{variant}-{state}.csv"
        path = self._folder / name
        partial = path.with_name(f"{name}.partial")
        partial.write_text(answer["rows"], encoding="utf-8")
        partial.rename(path)
        return path

    def _keep_order(self, operation: str, ordered_by: list[str]) -> None:
        """Record the columns that order an operation's expected rows."""
        if self._ordered_by.get(operation) == ordered_by:
            return
        self._ordered_by[operation] = ordered_by
        origin = self._run.expected_origin | {"made": {"ordered_by": self._ordered_by}}
        write_json(self._folder / EXPECTED_ORIGIN_FILE, origin)

    def _answer(self, text: str, state: int) -> dict[str, Any]:
        """Return the expected rows of a query as text, from the cache or the engine."""
        state = state if self._differs(text) else 0
        key = self._key(text, state)
        if (kept := self._cache.find(key)) is not None:
            self._kept += 1
            return kept
        if self._engine is None:
            self._engine = ReferenceEngine(
                *loaded(self._job, list(self._texts.values()), self._tell)
            )
        engine_answer = self._engine.answer(text, state)
        try:
            rows = expected_text(engine_answer.columns, engine_answer.rows)
        except ValueError as error:
            raise NotAnsweredError(str(error)) from error
        answer = {"rows": rows, "ordered_by": engine_answer.ordered_by}
        self._cache.keep(key, answer)
        self._made += 1
        return answer

    def _key(self, text: str, state: int) -> list[Any]:
        job = self._job
        batches = job["refresh"]["batches"] if job["refresh"] else 1
        # The data are the same for any number of batches that produced them.
        sets = str(Fraction(state, batches))
        rows = [job["generator"], job["generators_version"], job["scale"], sets]
        return [FORMAT, reference_engine.version(), job["content_sha256"], *rows, text]

    def _differs(self, text: str) -> bool:
        """Return True if a query's result may differ between data states."""
        if text not in self._reads:
            text_reads = reads(text, GRAMMAR)
            self._reads[text] = text_reads is None or not self._changed.isdisjoint(
                text_reads.tables
            )
        return self._reads[text]


def _without_view(error: str, views: Collection[str]) -> str:
    """Return why a query has no expected rows; a missing view is named as the workload's own."""
    missing = _NOT_FOUND.search(error)
    if missing is None or missing[1].lower() not in views:
        return error
    return (
        f"it reads the view {missing[1]}, which the workload's own setup creates: "
        f"{reference_engine.TITLE} has the workload's tables only"
    )
