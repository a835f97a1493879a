"""Collects the expected rows of a run: stored with a workload, or computed.

Kept rows are valid for default parameters and loaded data. Rows that are not kept are computed by
an independent engine in a separate process, after the engine under test has ended. If they cannot
be computed, the record says why; the run continues.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.model.errors import AssayError, UsageError, stopped_by
from assay.model.kept_answer import kept_facts, text_digest
from assay.model.language import SQL
from assay.record.layout import (
    EXPECTED_DIR,
    EXPECTED_ORIGIN_FILE,
    RESULTS_DIR,
    changing_result,
)
from assay.record.reader import Run
from assay.record.writer import write_json
from assay.running.asked.parsing import PARAMETERS_DEFAULT
from assay.running.host.places import cache_dir
from assay.running.processes.hosting import host
from assay.running.reference.cache import REFERENCES
from assay.running.reference.command import answers_command
from assay.running.reference.engine import DIALECT, GRAMMAR
from assay.workloads import generate
from assay.workloads.answers import kept_rows, own_answers
from assay.workloads.choosing import with_all_parts
from assay.workloads.contract import operation_of
from assay.workloads.queries import reads, why_unrepeatable
from assay.workloads.refreshing import NEW
from assay.workloads.rewriting.grammar import grammar_of
from assay.workloads.rewriting.views import declared_views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from assay.record.writer import RunWriter
    from assay.running.asked.asked_run import Asked
    from assay.running.processes.launcher import Guardian
    from assay.running.telling import Teller
    from assay.workloads.contract import Workload

log = logging.getLogger(__name__)

# Words of a script that may change the generated rows.
CHANGES_ROWS = re.compile(
    r"(?i)(?<!\bon )\b(insert|update|delete|merge|truncate|copy|load\s+data|replace\s+into|call)\b"
    r"|\b(do)\s*\$"
)
COMMENT = re.compile(r"--[^\n]*")


class References:
    """Collects the expected rows of one run."""

    def __init__(self, asked: Asked, run: RunWriter, teller: Teller) -> None:
        self._asked = asked
        self._request = asked.request
        self._run = run
        self._teller = teller
        self._folder: Path = run.raw / RESULTS_DIR / EXPECTED_DIR

    def keep_known(self) -> None:
        """Copy the expected rows that the workload stores into the record."""
        workload, scale = self._asked.workload, self._request.scale
        if self._request.parameters != PARAMETERS_DEFAULT or not self._asked.engine.facts.answers:
            return
        kept = kept_rows(workload, scale, self._asked.language)
        for name in (*self._request.forced, *workload.checks):
            if operation_of(name) in kept:
                kept[name] = kept[operation_of(name)]
        kept = self._without_outdated(kept)
        for name, path in kept.items():
            shutil.copyfile(path, self._folder / f"{name}.csv")
        if kept:
            origins = dict.fromkeys(_origin(workload, path) for path in kept.values())
            self._tell(origin=", ".join(origins))

    def _without_outdated(self, kept: dict[str, Path]) -> dict[str, Path]:
        """Return stored expected rows whose statements have not changed since."""
        own = own_answers(self._asked.workload, self._request.scale, self._asked.language)
        if not own:
            return kept
        answers = {name: own[operation_of(name)] for name in kept if operation_of(name) in own}
        outdated = [
            name
            for name, answer in answers.items()
            if text_digest(self._own_text(operation_of(name))) != answer.text_sha256
        ]
        current = {name: answer for name, answer in answers.items() if name not in outdated}
        self._tell(kept=kept_facts(current), outdated=outdated)
        return {name: path for name, path in kept.items() if name not in outdated}

    def _own_text(self, operation: str) -> str:
        workload, scale = with_all_parts(self._asked.workload), self._request.scale
        return workload.statement(operation, self._asked.dialects, scale).text

    def make(self, guardian: Guardian) -> None:
        """Compute the expected rows that the workload does not store.

        Raises:
            KeyboardInterrupt: If it was stopped; has the stopped step. The run's figures are
                complete without it.
        """
        if not self._asked.engine.facts.answers or changing_result(self._request.remove):
            return
        if self._request.forced:
            self._tell(why="plans of one operation are compared with each other")
            return
        try:
            self._made(guardian)
        except KeyboardInterrupt as interrupt:
            self._tell(why="the run was stopped before all reference rows were made")
            by = stopped_by(interrupt)
            raise KeyboardInterrupt(f"{by} while reference rows were made") from interrupt
        except (AssayError, OSError) as error:
            log.warning("the reference rows could not be made: %s", error)
            self._tell(why=str(error))
        except Exception as error:
            # The measurement is worth more than its check.
            log.exception("making reference rows broke down")
            self._tell(why=f"making reference rows broke down: {type(error).__name__}: {error}")

    def _made(self, guardian: Guardian) -> None:
        missing = list(without_answers(Run(self._run.dir)))
        # Only the run knows values that are drawn, here or for a check.
        operations = set(self._asked.workload.drawn_operations)
        missing = [piece for piece in missing if operation_of(piece[0]) not in operations]
        if not missing:
            return
        if not self._asked.workload.has_made_data:
            self._tell(
                why=self._made_by_nobody(),
                to_compare=answers_command(self._request),
                unrepeatable=self._unrepeatable({name for name, _ in missing}),
            )
            return
        texts = self._texts(missing)
        if (why := self._why_not(texts)) is not None:
            self._tell(why=why)
            return
        self._teller.phase("reference")
        job = self._job(texts)
        with host(guardian, "reference", job, self._run.raw / "host-reference.log") as making:
            while (message := making.next())["kind"] != "made":
                self._teller.phase(message["phase"])
                self._teller.amount(message["done"], message["expected"], message["unit"])
        self._tell(made=message["facts"])

    def _tell(self, **facts: object) -> None:
        # The computation has written the ordering columns to this document.
        document = Run(self._run.dir).expected_origin | facts
        write_json(self._folder / EXPECTED_ORIGIN_FILE, document)

    def _texts(self, pieces: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
        return [
            {"operation": name, "variant": variant, "text": self._text(name, variant)}
            for name, variant in pieces
        ]

    def _text(self, operation: str, variant: int) -> str:
        """Return a query's text in the reference engine's dialect, else in the engine's own."""
        workload, request = with_all_parts(self._asked.workload), self._request
        seed = None if request.parameters == PARAMETERS_DEFAULT else request.seed
        for dialects in ((DIALECT,), self._asked.dialects):
            try:
                statement = workload.statement(operation, dialects, request.scale, seed, variant)
            except UsageError:
                if dialects != (DIALECT,):
                    raise
            else:
                return statement.text
        raise AssertionError(operation)

    def _why_not(self, texts: list[dict[str, Any]]) -> str | None:
        """Return why the data are unknown outside the engine; None if they are known."""
        workload, request = self._asked.workload, self._request
        setup = workload.setup(self._asked.dialects, request.scale)
        for name, script in {**setup, **request.prepare}.items():
            if match := CHANGES_ROWS.search(COMMENT.sub("", script)):
                return f"{name} may change rows ({match[0].lower()})"
        refresh = workload.facts.refresh
        if self._asked.refresh_sets and refresh is not None and not refresh.deletes:
            return f"[refresh] of {workload.facts.name} has no `deletes`, which says what goes"
        for row in texts:
            text_reads = reads(row["text"], GRAMMAR)
            if text_reads is None or text_reads.changes:
                return f"{row['operation']} may change the data"
        return None

    def _made_by_nobody(self) -> str:
        return f"the data of {self._asked.workload.facts.name} are not made by a generator"

    def _unrepeatable(self, operations: set[str]) -> dict[str, str]:
        """Return why operations may return other rows at each execution, by name."""
        if self._asked.language != SQL:
            return {}
        grammar = grammar_of(self._asked.dialects)
        rows = _most_rows(Run(self._run.dir))
        reasons = {
            name: why_unrepeatable(self._text(name, 0), rows.get(name, 0), grammar)
            for name in sorted(operations)
        }
        return {name: why for name, why in reasons.items() if why is not None}

    def _job(self, texts: list[dict[str, Any]]) -> dict[str, Any]:
        workload, scale = self._asked.workload, self._request.scale
        return {
            "run": str(self._run.dir),
            "cache": str(cache_dir() / REFERENCES),
            "content_sha256": workload.content_hash,
            **workload.row_facts(scale, self._asked.refresh_sets),
            "generators_version": generate.version(workload.facts.generator),
            "tables": list(workload.facts.tables),
            "threads": os.cpu_count() or 1,
            "refresh": self._refresh(),
            "plain": self._request.parameters == PARAMETERS_DEFAULT,
            "texts": texts,
            "views": sorted(self._views()),
        }

    def _views(self) -> Iterable[str]:
        """Return the names of the views that the workload's setup creates, in lower case."""
        setup = self._asked.workload.setup(self._asked.dialects, self._request.scale)
        return declared_views(tuple(setup.values()), tuple(self._asked.dialects))

    def _refresh(self) -> dict[str, Any] | None:
        """Return how refresh functions change the data; None if they do not."""
        refresh, test = self._asked.workload.facts.refresh, self._asked.test
        if refresh is None or test is None or test.refresh is None:
            return None
        inserts = {name.removesuffix(NEW) for name in refresh.tables if name.endswith(NEW)}
        return {
            "batches": max(1, test.refresh.batches),
            "orders": self._asked.workload.refresh_orders(self._request.scale),
            "tables": list(refresh.tables),
            "deletes": dict(refresh.deletes),
            "changed": sorted(inserts | set(refresh.deletes)),
        }


def _origin(workload: Workload, kept: Path) -> str:
    """Return the folder of a file of expected rows, relative to all workloads."""
    owner = workload if kept.is_relative_to(workload.folder) else workload.data
    return f"workloads/{owner.facts.name}/{kept.parent.relative_to(owner.folder)}"


def without_answers(run: Run) -> Iterator[tuple[str, int]]:
    """Yield executed operations and their variants whose expected rows are incomplete."""
    from assay.analysis.answers.states import Refresh, distinct, executions

    refresh = Refresh.of(run.facts.get("test"))
    if refresh is None:
        yield from (piece for piece in _answered(run) if run.expected(*piece) is None)
        return
    asked = distinct(executions(run.table("events"), refresh))
    missing: set[tuple[str, int]] = set()
    for answer in asked.iter_rows(named=True):
        piece = (answer["operation"], answer["variant"])
        if piece in missing or answer["state_first"] is None:
            continue
        states = range(answer["state_first"], answer["state_last"] + 1)
        if any(run.expected(*piece, state) is None for state in states):
            missing.add(piece)
            yield piece


def _answered(run: Run) -> list[tuple[str, int]]:
    """Return operations and variants with a successful execution, in the order of the first one.

    The record is not sealed yet, so a long load is read in parts: without memory for all of its
    operations, the seal would be lost.
    """
    first_ns: dict[tuple[str, int], int] = {}
    for part in run.parts("events"):
        if "variant" not in part.columns:
            part = part.with_columns(pl.lit(0, pl.UInt32).alias("variant"))  # noqa: PLW2901
        begun = (
            part.lazy()
            .filter(pl.col("outcome") == "ok")
            .group_by("operation", "variant")
            .agg(pl.col("started_ns").min())
        )
        for operation, variant, started_ns in begun.collect().iter_rows():
            piece = (operation, variant)
            first_ns[piece] = min(started_ns, first_ns.get(piece, started_ns))
    return sorted(first_ns, key=lambda piece: first_ns[piece])


def _most_rows(run: Run) -> dict[str, int]:
    """Return the largest number of rows that an execution of each operation returned."""
    most: dict[str, int] = {}
    for part in run.parts("events"):
        for operation, rows in part.group_by("operation").agg(pl.col("rows").max()).iter_rows():
            most[operation] = max(rows or 0, most.get(operation, 0))
    return most
