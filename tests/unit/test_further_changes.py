"""Changes that no finding advises: which ones a diagnosis tries, and which not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.analysis.try_.calibration import Calibration, Record
from assay.model.catalogue import Index
from assay.model.finding import Advice, Finding
from assay.record.reader import Run
from assay.report.diagnosis.document import NOTHING_RUN, verdict_words
from assay.running.asked.request import RunRequest
from assay.study.diagnosing import further, planning
from assay.study.diagnosing.candidates import candidates_of
from assay.study.diagnosing.further import further_candidates, with_used_indexes
from tests.cases import node, plan
from tests.records import write_run

HISTORY = Calibration(Record(0, 0, 0, 0, None), {})
SPLIT = "select count(*) as n from t where exists (select 1 from u where u.a = t.a)"
EITHER = "select t.id, u.id as other from t join u on t.a = u.a or t.b = u.b"


def changes(place: Path, request: RunRequest, *findings: Finding) -> list[str]:
    """The changes that are tried beside those of some findings."""
    run = Run(write_run(place))
    advised, _ = candidates_of(run, findings, request, HISTORY)
    return [candidate.change for candidate in further_candidates(run, request, advised, request)]


def asked(**settings: str) -> RunRequest:
    return RunRequest(workload="tpch", engine="postgresql", scale=0.01, settings=settings)


class TestGivenOptions:
    def test_each_is_left_out(self, tmp_path: Path) -> None:
        request = asked(work_mem="64kB", jit="off")
        assert changes(tmp_path, request) == ["work_mem not set", "jit not set"]

    def test_a_limit_is_left_out(self, tmp_path: Path) -> None:
        request = asked().changed(limits={"memory": 1 << 30})
        assert changes(tmp_path, request) == ["no limit of memory"]

    def test_without_any_there_is_nothing(self, tmp_path: Path) -> None:
        assert changes(tmp_path, asked()) == []

    @pytest.mark.parametrize("name", ["synchronous_commit", "fsync"])
    def test_one_that_durability_depends_on_stays(self, tmp_path: Path, name: str) -> None:
        assert changes(tmp_path, asked(**{name: "on", "jit": "off"})) == ["jit not set"]

    def test_one_that_a_finding_changes_is_not_tried_twice(self, tmp_path: Path) -> None:
        advice = Advice("named-setting", "work_mem", {"value": "64MB"}, 0.2)
        claimed = Finding("It spills", 0.4, None, (), "spill", operations=("q01",), advice=advice)
        request = asked(work_mem="64kB", jit="off")
        assert changes(tmp_path, request, claimed) == ["jit not set"]

    def test_the_change_is_the_run_without_it(self, tmp_path: Path) -> None:
        request = asked(work_mem="64kB", jit="off")
        first, _ = further_candidates(Run(write_run(tmp_path)), request, [], request)
        assert first.request.settings == {"jit": "off"}
        assert first.cause.claim.startswith("the run was given work_mem=64kB")

    def test_what_a_kept_change_set_was_not_given(self, tmp_path: Path) -> None:
        """Neither a setting that the user did not give, nor another value of one."""
        given = asked(work_mem="64kB", jit="off")
        base = asked(work_mem="64MB", jit="off", random_page_cost="1.1")
        run = Run(write_run(tmp_path))
        tried = [each.change for each in further_candidates(run, base, [], given)]
        assert tried == ["jit not set"]


def folder_of(place: Path, text: str) -> Path:
    folder = place / "pairs"
    (folder / "operations").mkdir(parents=True)
    (folder / "operations" / "q01.sql").write_text(text, encoding="utf-8")
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(
        "create table t (id int primary key, a int, b int, c int, d int);\n"
        "create table u (id int primary key, a int, b int);\n",
        encoding="utf-8",
    )
    return folder


def of_folder(place: Path, text: str, engine: str, **asked: Any) -> RunRequest:
    folder = str(folder_of(place, text))
    return RunRequest(workload=folder, engine=engine, scale=1.0, operations=["q01"], **asked)


class TestOtherForms:
    @pytest.mark.parametrize(
        ("text", "tried"), [(EITHER, ["q01 with a union of joins"]), (SPLIT, [])]
    )
    def test_a_query_is_tried_in_the_forms_that_it_can_have(
        self, tmp_path: Path, text: str, tried: list[str]
    ) -> None:
        request = of_folder(tmp_path, text, "duckdb")
        assert changes(tmp_path / "runs", request) == tried

    def test_one_that_a_finding_advises_is_not_tried_twice(self, tmp_path: Path) -> None:
        advice = Advice("union-of-joins", "q01", {}, 0.5)
        claimed = Finding("It joins", 0.5, None, (), "either-join", operations=("q01",))
        claimed = replace(claimed, advice=advice)
        request = RunRequest(
            workload=str(folder_of(tmp_path, EITHER)),
            engine="duckdb",
            scale=1.0,
            operations=["q01"],
        )
        assert changes(tmp_path / "runs", request, claimed) == []


SEARCH = "select id, a, b, c, d from t where a = 5 and b > 3"


class TestIndexes:
    @pytest.fixture(autouse=True)
    def there(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Index, ...]]:
        """The indexes of the database."""
        known: dict[str, tuple[Index, ...]] = {}
        monkeypatch.setattr(further, "captured", lambda _: SimpleNamespace(indexes=known))
        return known

    def searched(self, place: Path, text: str = SEARCH, **asked: Any) -> list[str]:
        request = RunRequest(
            workload=str(folder_of(place, text)),
            engine="postgresql",
            scale=1.0,
            operations=["q01"],
            **asked,
        )
        return changes(place / "runs", request)

    def test_those_that_a_query_could_use_are_created(self, tmp_path: Path) -> None:
        assert self.searched(tmp_path) == [further.ALL_INDEXES]

    def test_the_same_columns_are_created_once(self, tmp_path: Path) -> None:
        """One subquery finds rows by all of them, and the other one only reads the last one."""
        text = (
            "select x.c from (select c from t where a = 1 and b = 2) as x "
            "join (select C from T where A = 1 and B = 2 and C > 3) as y on y.c = x.c"
        )
        request = of_folder(tmp_path, text, "postgresql")
        run = Run(write_run(tmp_path / "runs"))
        (change,) = further_candidates(run, request, [], request)
        (label,) = change.request.prepare
        parts = label.removeprefix("index of ").split(" and ")
        assert len(parts) == len({part.lower() for part in parts})

    @pytest.mark.parametrize(
        ("index", "is_tried"),
        [
            (Index("t", "i", ("a", "b")), False),
            (Index("t", "i", ("a", "b", "id")), False),
            (Index("t", "i", ("a",), unique=True), False),
            (Index("t", "i", ("a",)), True),
            (Index("t", "i", ("b", "a")), True),
            (Index("t", "i", ("a", "b"), predicate="a > 0"), True),
            (Index("t", "i", ("a", "b"), valid=False), True),
            (Index("u", "i", ("a", "b")), True),
        ],
    )
    def test_one_that_exists_is_not(
        self, tmp_path: Path, there: dict[str, tuple[Index, ...]], index: Index, *, is_tried: bool
    ) -> None:
        there[index.table] = (index,)
        assert bool(self.searched(tmp_path)) is is_tried

    def test_columns_that_are_only_read_need_no_other_index(
        self, tmp_path: Path, there: dict[str, tuple[Index, ...]]
    ) -> None:
        text = "select c from t where a = 5"
        there["t"] = (Index("t", "i", ("a",)),)
        assert self.searched(tmp_path, text) == []
        there["t"] = (Index("t", "i", ("b",)),)
        assert self.searched(tmp_path / "without", text) == [further.ALL_INDEXES]

    def test_on_a_running_server_none_is(self, tmp_path: Path) -> None:
        assert self.searched(tmp_path, dsn="postgresql://localhost/shop") == []

    def test_a_workload_of_assay_has_those_of_its_rules(self, tmp_path: Path) -> None:
        request = RunRequest(workload="tpch", engine="postgresql", scale=0.01, operations=["q01"])
        assert changes(tmp_path, request) == []

    def test_only_those_that_the_optimiser_uses_are_tried(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = "select t.id, t.c, t.d from t join u on u.a = t.a where t.b = 3"
        request = RunRequest(
            workload=str(folder_of(tmp_path, text)),
            engine="postgresql",
            scale=1.0,
            operations=["q01"],
        )
        run = Run(write_run(tmp_path / "runs"))
        (wide,) = further_candidates(run, request, [], request)
        assert list(wide.request.prepare) == ["index of t (b) and t (a, b) and u (a)"]
        used = node("index scan", index="assay_u_a")
        monkeypatch.setattr(further, "read_plans", lambda _: {"q01": (plan(used),)})
        chosen = with_used_indexes(wide, request, run)
        assert chosen is not None
        assert (chosen.change, chosen.cause.operations) == ("index of u (a)", ("q01",))
        # A small operation may use an index, too, and would save little.
        unused = {"q01": (plan(node("scan")),), "small": (plan(used),)}
        monkeypatch.setattr(further, "read_plans", lambda _: unused)
        assert with_used_indexes(wide, request, run) is None
        refuted = planning.unused(wide)
        assert (refuted.change, refuted.judgement.verdict) == (further.ALL_INDEXES, "refuted")
        assert verdict_words(refuted.judgement, None) == NOTHING_RUN
