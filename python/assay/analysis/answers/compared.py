"""Compares each stored query result of a run with its expected rows, once per distinct result."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.answers.comparison import (
    FLOAT_RELATIVE,
    Tolerances,
    difference,
    read_expected,
    read_expected_by,
)
from assay.analysis.answers.kept import read_kept_rows
from assay.model.kept_answer import KeptAnswer, from_facts
from assay.record.streams import read_result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.analysis.answers.comparison import Expected
    from assay.record.reader import Run


# Number of files held in memory: each result is compared with several states in succession.
RESULTS_HELD = 4
EXPECTED_HELD = 64


class Compared:
    """The stored query results of a run, and their differences from the expected rows.

    Args:
        run: The run.
        ordered_by: Columns that order the rows of an operation, by operation. Without an entry or
            a rule of the workload, the order of all rows is compared.
    """

    def __init__(self, run: Run, ordered_by: Mapping[str, Sequence[str]]) -> None:
        self._run = run
        self._ordered_by = ordered_by
        self._kept: dict[str, dict[str, list[Path]]] = {}
        self._differences: dict[tuple[str, int, Path], str | None] = {}
        self._rows = lru_cache(RESULTS_HELD)(_rows)
        self._rules = run.facts["workload"].get("answer_rules", {})
        self._own = kept_answers(run)
        self._expected = lru_cache(EXPECTED_HELD)(self._read)

    def kept(self, operation: str, digest: int) -> list[Path]:
        """Return the files of stored results that have this digest, one for each row order."""
        if operation not in self._kept:
            by_digest: dict[str, list[Path]] = {}
            for kept_digest, path in self._run.results(operation):
                by_digest.setdefault(kept_digest, []).append(path)
            self._kept[operation] = by_digest
        return self._kept[operation].get(f"{digest:016x}", [])

    def difference(self, operation: str, digest: int, expected: Path) -> str | None:
        """Return the first difference between stored results and expected rows; None if equal."""
        key = (operation, digest, expected)
        if key not in self._differences:
            wanted = self._expected(operation, expected)
            tolerances = self._tolerances(operation)
            differences = (
                difference(self._rows(path), wanted, tolerances)
                for path in self.kept(operation, digest)
            )
            self._differences[key] = next((text for text in differences if text is not None), None)
        return self._differences[key]

    def _read(self, operation: str, path: Path) -> Expected:
        if (own := self._own.get(operation)) is not None:
            return read_kept_rows(path, own)
        if (ordered_by := self._ordered_by.get(operation)) is not None:
            return read_expected(path, tuple(ordered_by))
        rule = self._rules.get(operation)
        return read_expected(path) if rule is None else read_expected_by(path, rule)

    def _tolerances(self, operation: str) -> Tolerances:
        if (own := self._own.get(operation)) is not None:
            kinds = dict.fromkeys(own.floats, "float")
            return Tolerances.of(kinds, 0.0, 0.0, 1.0, float(FLOAT_RELATIVE))
        workload = self._run.facts["workload"]
        return Tolerances.of(
            workload["answer_columns"].get(operation, {}),
            workload["tolerance"]["sum_absolute"],
            workload["tolerance"]["ratio_relative"],
            self._run.facts["request"]["scale"],
            workload["tolerance"].get("float_relative", 0.0),
        )


def kept_answers(run: Run) -> dict[str, KeptAnswer]:
    """Return the expected results that a user stored for their own queries."""
    return from_facts(run.expected_origin.get("kept", {}))


def _rows(path: Path) -> list[tuple[object, ...]]:
    return read_result(path).rows()
