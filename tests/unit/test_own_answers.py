"""Rows that somebody keeps as answers: any value survives, and only what is known is compared."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.answers.comparison import FLOAT_RELATIVE, Tolerances, difference
from assay.analysis.answers.kept import (
    expected_rows,
    inexact_columns,
    kept_text,
    read_kept_rows,
)
from assay.checks import answers as check_answers
from assay.model.errors import UsageError
from assay.model.kept_answer import (
    KEPT_FILE,
    KeptAnswer,
    kept_facts,
    read_kept_answers,
    text_digest,
    write_kept_answers,
)
from assay.model.verdict import Verdict
from assay.running.asked.request import RunRequest
from assay.running.reference.command import answers_command
from assay.verbs.answers import answers
from assay.workloads.answers import own_answers
from assay.workloads.discovery import read_workload
from assay.workloads.queries import cut_ends
from tests.conftest import SyntheticRun


def kept(**changed: Any) -> KeptAnswer:
    facts: dict[str, Any] = {
        "rows": 1,
        "digest": "0" * 16,
        "text_sha256": text_digest("select 1"),
        "ordered_by": [],
        "floats": [],
        "cut": [],
        "kept_utc": "2026-11-24T18:40:01.000+00:00",
        "engine": "PostgreSQL 18.6",
        "server": None,
        "run": "r",
    }
    return KeptAnswer(**(facts | changed))


def differs(rows: list[tuple[object, ...]], wanted: list[tuple[object, ...]], **how: Any) -> Any:
    """How rows of the columns a, b, ... differ from those kept."""
    columns = [chr(ord("a") + place) for place in range(len(wanted[0]))]
    answer = kept(**how)
    tolerances = Tolerances.of(
        dict.fromkeys(answer.floats, "float"), 0, 0, 1, float(FLOAT_RELATIVE)
    )
    return difference(rows, expected_rows(columns, wanted, answer), tolerances)


CELLS = st.one_of(
    st.none(),
    st.text(),
    st.integers(),
    st.booleans(),
    st.dates(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
    st.floats(),
)


class TestRows:
    @given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
    def test_whatever_was_returned_is_the_same_when_it_is_read_back(
        self, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[object, ...]]
    ) -> None:
        file = tmp_path_factory.mktemp("kept") / "q.csv"
        file.write_text(kept_text(["a|b", "c"], rows), encoding="utf-8", newline="")
        answer = kept(rows=len(rows), ordered_by=["a|b"])
        read = read_kept_rows(file, answer)
        assert read.columns == ("a|b", "c")
        assert difference(rows, read, Tolerances.of({}, 0, 0, 1)) is None

    def test_moments_and_bytes_are_as_they_were(self, tmp_path: Path) -> None:
        rows = [(datetime(2026, 1, 2, 3, 4, 5), date(2026, 1, 2), b"\x00|", [1, 2])]  # noqa: DTZ001
        (tmp_path / "q.csv").write_text(kept_text("abcd", rows), encoding="utf-8")
        read = read_kept_rows(tmp_path / "q.csv", kept())
        assert difference(rows, read, Tolerances.of({}, 0, 0, 1)) is None

    def test_floats_and_long_decimals_are_compared_within_a_tolerance(self) -> None:
        types = {"i": pl.Int64, "f": pl.Float64, "d": pl.Decimal(20, 2), "q": pl.Decimal(20, 8)}
        assert inexact_columns(pl.Schema(types)) == ["f", "q"]
        near = [(Decimal("0.33333333334"),)]
        assert differs(near, [(Decimal("0.33333333333"),)], floats=["a"]) is None
        assert differs([(0.334,)], [(0.333,)], floats=["a"]) is not None


class TestOrder:
    def test_rows_without_an_order_are_a_multiset(self) -> None:
        assert differs([(2,), (1,), (1,)], [(1,), (1,), (2,)]) is None
        assert differs([(2,), (2,), (1,)], [(1,), (1,), (2,)]) is not None

    def test_floats_without_an_order_are_looked_for(self) -> None:
        wanted = [(0.1 + 0.2, "x"), (9.999999999999999, "x"), (10.5, "x")]
        rows = [(10.5, "x"), (10.0, "x"), (0.3, "x")]
        assert differs(rows, wanted, floats=["a"]) is None

    def test_rows_with_an_order_have_it(self) -> None:
        rows: list[tuple[object, ...]] = [(1, "b"), (1, "a"), (2, "c")]
        wanted: list[tuple[object, ...]] = [(1, "a"), (1, "b"), (2, "c")]
        assert differs(rows, wanted, ordered_by=["a"]) is None
        assert "order" in differs([*rows[2:], *rows[:2]], wanted, ordered_by=["a"])

    def test_rows_that_tie_at_a_limit_may_be_others(self) -> None:
        wanted: list[tuple[object, ...]] = [(9, "a"), (7, "b"), (7, "c")]
        rows: list[tuple[object, ...]] = [(9, "a"), (7, "c"), (7, "d")]
        how = {"ordered_by": ["a"], "cut": ["last"]}
        assert differs(rows, wanted, **how) is None
        assert differs([(9, "x"), *rows[1:]], wanted, **how) is not None
        assert differs([*rows[:2], (6, "d")], wanted, **how) is not None
        assert differs(rows, wanted, ordered_by=["a"]) is not None

    def test_of_a_limit_without_an_order_rows_are_counted(self) -> None:
        assert differs([(5,), (6,)], [(1,), (2,)], cut=["last"]) is None
        assert differs([(5,)], [(1,), (2,)], cut=["last"]) == "1 rows instead of 2"

    @pytest.mark.parametrize(
        ("text", "rows", "ends"),
        [
            ("select a from t order by a", 5, []),
            ("select a from t order by a limit 5", 5, ["last"]),
            ("select a from t order by a limit 5", 4, []),
            ("select a from t offset 3", 5, ["first"]),
            ("select a from t order by 1 offset 3 fetch first 2 rows only", 2, ["first", "last"]),
            ("select a from (select a from t limit 3) as s", 3, []),
            ("this is no SQL at all, limit", 3, ["first", "last"]),
        ],
    )
    def test_a_limit_is_known_by_the_statement(self, text: str, rows: int, ends: list[str]) -> None:
        assert cut_ends(text, rows, "postgres") == ends


class TestFile:
    def test_it_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        both = {"b": kept(cut=["last"]), "a": kept(ordered_by=["x"])}
        write_kept_answers(tmp_path, both)
        assert read_kept_answers(tmp_path) == both
        assert both["a"].state == "2026-11-24 18:40 UTC, PostgreSQL 18.6"

    def test_nothing_kept_is_nothing(self, tmp_path: Path) -> None:
        assert read_kept_answers(tmp_path) == {}

    @pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2, "operations": {}}', "{}"])
    def test_a_file_that_cannot_be_read_names_itself_and_the_mend(
        self, tmp_path: Path, text: str
    ) -> None:
        (tmp_path / "q.sql").write_text("select 1")
        (tmp_path / "answers").mkdir()
        (tmp_path / "answers" / KEPT_FILE).write_text(text)
        with pytest.raises(UsageError, match=r"kept\.json.*assay answers"):
            own_answers(read_workload(tmp_path), 1.0)

    def test_blanks_do_not_make_another_statement(self) -> None:
        assert text_digest("select  1\n") == text_digest("select 1")
        assert text_digest("select 2") != text_digest("select 1")


class TestCommand:
    def test_it_names_folder_and_server_without_a_password(self) -> None:
        request = RunRequest(
            workload="./my queries", engine="postgresql", scale=1, dsn="postgresql://me:pw@h/shop"
        )
        assert answers_command(request) == (
            "assay answers './my queries' --dsn postgresql://me@h/shop --keep"
        )

    def test_keywords_need_the_engine(self) -> None:
        dsn = "host=h password='s e' dbname=d"
        request = RunRequest(workload="./q", engine="postgresql", scale=1, dsn=dsn)
        told = answers_command(request)
        assert "s e" not in told
        assert told.endswith("--dsn 'host=h dbname=d' --engine postgresql --keep")

    def test_an_engine_of_ours_is_named_with_its_scale(self) -> None:
        request = RunRequest(workload="./q", engine="duckdb", scale=0.5)
        expected = "assay answers ./q --engine duckdb --scale 0.5 --keep"
        assert answers_command(request) == expected


class TestVerdict:
    COMMAND = "assay answers ./q --dsn x --keep"

    def judged(self, synthetic: SyntheticRun, *lacking: str, **origin: Any) -> Any:
        run = synthetic.write()
        folder = run.dir / "raw" / "results" / "expected"
        for name in lacking:
            (folder / f"{name}.csv").unlink()
        (folder / "origin.json").write_text(json.dumps({"to_compare": self.COMMAND} | origin))
        return check_answers.check(run)

    def test_answers_that_nobody_kept_are_no_doubt(self, synthetic: SyntheticRun) -> None:
        result = self.judged(synthetic, "a", "b")
        assert (result.verdict, result.measured) == (Verdict.VALID, False)
        # An article does not call them right.
        assert result.of_answers == Verdict.UNKNOWN
        assert result.reason == (
            "not compared: there are no reference answers for these queries."
            f" Store the answers for the next runs with: {self.COMMAND}"
        )

    def test_some_that_nobody_kept_are_named(self, synthetic: SyntheticRun) -> None:
        result = self.judged(synthetic, "b")
        assert (result.verdict, result.measured) == (Verdict.VALID, True)
        assert result.reason.startswith("1 of 2 answers right, not compared: there are no")
        assert "for b." in result.reason

    def test_a_statement_that_changed_is_named(self, synthetic: SyntheticRun) -> None:
        result = self.judged(synthetic, "b", outdated=["b"])
        assert "the query b changed after its answer was stored" in result.reason

    def test_a_wrong_one_is_invalid_all_the_same(self, synthetic: SyntheticRun) -> None:
        synthetic.expected = {"a": "n\n77\n"} | {"b": synthetic.expected["b"]}
        facts = kept_facts({"a": kept(ordered_by=["n"])})
        result = self.judged(synthetic, "b", kept=facts)
        assert result.verdict == Verdict.INVALID
        assert "stored on 2026-11-24 18:40 UTC, PostgreSQL 18.6." in result.reason
        assert "assay answers ... --keep" in result.reason


class TestStatementsWithoutAResult:
    """An UPDATE returns neither rows nor columns; a query without rows has its columns."""

    def changing(self, synthetic: SyntheticRun, *names: str) -> SyntheticRun:
        for event in synthetic.events:
            if event["operation"] in names:
                event |= {"rows": 0, "digest": 0}
        for name in names:
            del synthetic.results[name]
        return synthetic

    def test_they_are_not_compared(self, synthetic: SyntheticRun) -> None:
        run = self.changing(synthetic, "a").write()
        (run.dir / "raw" / "results" / "expected" / "a.csv").unlink()
        result = check_answers.check(run)
        assert result.verdict == Verdict.VALID
        assert result.reason == "1 of 1 answers right, in every pass"

    def test_a_run_of_nothing_else_says_so(self, synthetic: SyntheticRun) -> None:
        run = self.changing(synthetic, "a", "b").write()
        for name in ("a", "b"):
            (run.dir / "raw" / "results" / "expected" / f"{name}.csv").unlink()
        result = check_answers.check(run)
        assert (result.verdict, result.measured) == (Verdict.VALID, False)
        assert result.reason == "answers not compared: no operation returns rows"

    def test_where_rows_are_expected_their_lack_is_no_right_answer(
        self, synthetic: SyntheticRun
    ) -> None:
        result = check_answers.check(self.changing(synthetic, "a").write())
        assert result.verdict == Verdict.UNKNOWN


def test_answers_of_generated_data_are_not_taken(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already has reference answers for tpch"):
        answers("tpch", runs=tmp_path, engine="duckdb")
    assert not list(tmp_path.iterdir())
