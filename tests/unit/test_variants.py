"""A study is planned in a balanced order, and reading its file back gives the same study."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay.model.errors import RecordUnreadableError
from assay.record.studies import (
    STUDY_FILE,
    StudyFigure,
    find_study,
    list_studies,
    read_study,
    read_study_file,
    write_study,
)
from assay.running.asked.request import RunRequest
from assay.study.variants import Part, Planned, Study, Variant, interleaved

BASE = RunRequest(
    workload="tpch",
    engine="postgresql",
    scale=0.1,
    settings={"work_mem": "1MB"},
    prepare={"a.sql": "create index on t (a);\n"},
    pin={"engine": [0]},
    min_time_s=5.0,
)
MORE = BASE.changed(
    settings={"work_mem": "64MB"},
    prepare={**BASE.prepare, "b.sql": "analyze \"odd'''\";\n"},
)
CLIENTS = BASE.changed(clients=4, time_s=1.5)
MEMORY = Part(
    "memory",
    (
        Variant("as it was", BASE),
        Variant("more", MORE, {"set.work_mem": "64MB"}),
        Variant("clients", CLIENTS, {"load": "mix"}),
    ),
    4,
    "What memory is worth.",
)
FIGURE = StudyFigure("times", ("memory",), "operations", "Times", {"operations": ["q01"]})
STUDY = Study("Which is\nfaster?", (MEMORY,), 7, "Memory", (FIGURE,))


class TestOrder:
    @pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b", "c", "d", "e"]])
    @pytest.mark.parametrize("repetitions", [1, 2, 3, 8])
    @pytest.mark.parametrize("seed", range(5))
    def test_every_round_has_each_once(self, names: list[str], repetitions: int, seed: int) -> None:
        planned = interleaved(names, repetitions, seed)
        rounds = {}
        for planned_run in planned:
            rounds.setdefault(planned_run.round, []).append(planned_run.variant)
        assert list(rounds) == list(range(1, repetitions + 1))
        assert all(sorted(order) == names for order in rounds.values())
        assert [step.round for step in planned] == sorted(step.round for step in planned)

    @pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"], list("abcdef")])
    @pytest.mark.parametrize("seed", range(5))
    def test_a_steady_drift_weighs_on_all_alike(self, names: list[str], seed: int) -> None:
        positions = Counter[str]()
        for position, planned_run in enumerate(interleaved(names, 4, seed)):
            positions[planned_run.variant] += position
        assert len(set(positions.values())) == 1

    def test_of_two_it_is_abba(self) -> None:
        seen = {
            "".join(planned_run.variant for planned_run in interleaved("ab", 2, seed))
            for seed in range(20)
        }
        assert seen == {"abba", "baab"}

    def test_the_seed_says_which(self) -> None:
        orders = [interleaved("abcd", 6, seed) for seed in (1, 1, 2)]
        assert orders[0] == orders[1] != orders[2]


class TestParts:
    def two(self, repetitions: int = 2) -> Study:
        shared = Variant("plain", BASE)
        first = Part("first", (shared, Variant("more", MORE)), repetitions)
        second = Part("second", (Variant("same", BASE), Variant("clients", CLIENTS)), 3)
        return Study("?", (first, second))

    def test_the_first_round_of_all_parts_comes_before_the_second_of_any(self) -> None:
        rounds = [[operation.round for operation in run.stands_for] for run in self.two().order()]
        assert [numbers[0] for numbers in rounds] == sorted(numbers[0] for numbers in rounds)
        assert all(len(set(numbers)) == 1 for numbers in rounds)

    def test_within_a_round_the_runs_of_a_part_stand_side_by_side(self) -> None:
        of = [run.stands_for[-1].part for run in self.two().order() if len(run.stands_for) == 1]
        assert of == ["first", "second"] * 2 + ["second"] * 2

    def test_equal_requests_of_a_round_are_one_run(self) -> None:
        order = self.two().order()
        shared = [run for run in order if run.request == BASE]
        assert [len(run.stands_for) for run in shared] == [2, 2, 1]
        assert {operation.variant for operation in shared[0].stands_for} == {"plain", "same"}
        assert shared[2].stands_for == (Planned("second", "same", 3),)

    def test_every_variant_has_each_of_its_rounds_once(self) -> None:
        study = self.two(5)
        planned = Counter(operation for run in study.order() for operation in run.stands_for)
        wanted = {
            Planned(part.name, variant.name, number)
            for part in study.parts
            for variant in part.variants
            for number in range(1, part.repetitions + 1)
        }
        assert set(planned) == wanted
        assert set(planned.values()) == {1}


class TestFile:
    def test_it_begins_with_its_question(self, tmp_path: Path) -> None:
        write_study(tmp_path, STUDY.facts())
        text = (tmp_path / STUDY_FILE).read_text()
        assert text.startswith("# Which is\n# faster?\n\nschema = 2\n")

    def test_it_tells_what_differs_from_an_ordinary_request(self, tmp_path: Path) -> None:
        write_study(tmp_path, STUDY.facts())
        (part,) = read_study_file(tmp_path / STUDY_FILE)["parts"]
        assert part["variants"][0]["request"]["settings"] == BASE.settings
        assert "probe_interval_s" not in part["variants"][0]["request"]

    def test_it_is_read_back(self, tmp_path: Path) -> None:
        entry = {"part": "memory", "variant": "more", "round": 1, "seconds": 2.0}
        runs = [entry | {"status": "complete", "id": "r1"}]
        runs += [entry | {"round": 2, "status": "failed", "reason": "the disk is full"}]
        directory = tmp_path / "runs" / "studies" / "s"
        write_study(directory, STUDY.facts() | {"status": "partial", "reason": "x", "runs": runs})
        study = read_study(directory)
        assert study.part("memory").about == MEMORY.about
        assert study.figures == (FIGURE,)
        (study_run,) = study.complete
        assert study_run.path == tmp_path / "runs" / "r1"
        assert study_run.levels == {"set.work_mem": "64MB"}
        (failed,) = study.failed()
        assert (failed.round, failed.reason, failed.path) == (2, "the disk is full", None)
        assert len(study.missing()) == 11
        assert {run.reason for run in study.missing()} == {"x", "the disk is full"}
        assert study.published is None

    def test_one_that_an_earlier_assay_wrote_says_so(self, tmp_path: Path) -> None:
        write_study(tmp_path, {"schema": 1, "question": "?", "base": {}})
        with pytest.raises(RecordUnreadableError, match="has schema version 1"):
            read_study(tmp_path)

    def test_no_secret_stands_in_it(self, tmp_path: Path) -> None:
        base = BASE.changed(
            dsn="postgresql://me:hunter2@host/db", settings={"s3_secret": "hunter2"}
        )
        other = base.changed(settings={"token": "hunter2"}, dsn="user=a password=hunter2")
        variants = (Variant("a", base), Variant("b", other))
        write_study(tmp_path, Study("?", (Part("p", variants, 1),)).facts())
        assert "hunter2" not in (tmp_path / STUDY_FILE).read_text()


class TestFinding:
    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        for name in ("20260101T000000000Z-study-a-aaaaaa", "20260102T000000000Z-study-b-bbbbbb"):
            write_study(tmp_path / "studies" / name, STUDY.facts())
        return tmp_path

    @pytest.mark.parametrize("which", ["latest", "bbbbbb", "20260102"])
    def test_by_its_id_or_a_part_of_it(self, runs: Path, which: str) -> None:
        assert find_study(which, runs).name.endswith("bbbbbb")

    def test_by_its_path(self, runs: Path) -> None:
        (first, _) = list_studies(runs)
        assert find_study(str(first), Path("nowhere")) == first
        assert find_study(str(first / STUDY_FILE), Path("nowhere")) == first

    def test_what_is_not_there_is_told_with_what_is(self, runs: Path, tmp_path: Path) -> None:
        with pytest.raises(RecordUnreadableError, match="2 studies begin with"):
            find_study("2026", runs)
        with pytest.raises(RecordUnreadableError, match="no study 'c'"):
            find_study("c", runs)
        with pytest.raises(RecordUnreadableError, match="none yet"):
            find_study("latest", tmp_path / "elsewhere")
