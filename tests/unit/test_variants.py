"""A study is planned in a balanced order, and reading its file back gives the same study."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.record.studies import STUDY_FILE, read_study_file, write_study
from assay.study.request import RunRequest
from assay.study.variants import Study, Variant, difference, interleaved, read_study

BASE = RunRequest(
    "tpch",
    "postgresql",
    0.1,
    settings={"work_mem": "1MB"},
    prepare={"a.sql": "create index on t (a);\n"},
    pin={"engine": [0]},
    min_time_s=5.0,
)
VARIANTS = (
    Variant("as it was"),
    Variant(
        "more", {"settings": {"work_mem": "64MB"}, "prepare": {"b.sql": "analyze \"odd'''\";\n"}}
    ),
    Variant("clients", {"clients": 4, "time_s": 1.5}),
)
STUDY = Study("Which is\nfaster?", BASE, VARIANTS, 4, 7)


class TestOrder:
    @pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b", "c", "d", "e"]])
    @pytest.mark.parametrize("repetitions", [1, 2, 3, 8])
    @pytest.mark.parametrize("seed", range(5))
    def test_every_round_has_each_once(self, names: list[str], repetitions: int, seed: int) -> None:
        planned = interleaved(names, repetitions, seed)
        rounds = {}
        for one in planned:
            rounds.setdefault(one.round, []).append(one.variant)
        assert list(rounds) == list(range(1, repetitions + 1))
        assert all(sorted(order) == names for order in rounds.values())
        assert [one.round for one in planned] == sorted(one.round for one in planned)

    @pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"], list("abcdef")])
    @pytest.mark.parametrize("seed", range(5))
    def test_a_steady_drift_weighs_on_all_alike(self, names: list[str], seed: int) -> None:
        positions = Counter[str]()
        for position, one in enumerate(interleaved(names, 4, seed)):
            positions[one.variant] += position
        assert len(set(positions.values())) == 1

    def test_of_two_it_is_abba(self) -> None:
        seen = {"".join(one.variant for one in interleaved("ab", 2, seed)) for seed in range(20)}
        assert seen == {"abba", "baab"}

    def test_the_seed_says_which(self) -> None:
        orders = [interleaved("abcd", 6, seed) for seed in (1, 1, 2)]
        assert orders[0] == orders[1] != orders[2]


class TestVariants:
    def test_tables_are_added_to_and_the_rest_replaced(self) -> None:
        more = STUDY.request("more")
        assert more.settings == {"work_mem": "64MB"}
        assert list(more.prepare) == ["a.sql", "b.sql"]
        assert STUDY.request("clients") == replace(BASE, clients=4, time_s=1.5)
        assert STUDY.request("as it was") == BASE

    def test_a_difference_makes_the_other_of_the_base(self) -> None:
        other = replace(
            BASE,
            settings={**BASE.settings, "jit": "off"},
            seed=9,
            prepare={**BASE.prepare, "c": "d;"},
        )
        changes = difference(BASE, other)
        assert changes == {"settings": {"jit": "off"}, "prepare": {"c": "d;"}, "seed": 9}
        assert Variant("other", changes).of(BASE) == other


class TestFile:
    def read_back(self, study: Study, tmp_path: Path) -> Study:
        write_study(tmp_path, study.facts())
        return read_study(read_study_file(tmp_path / STUDY_FILE), "study.toml")

    def test_it_is_the_same_when_it_is_read_back(self, tmp_path: Path) -> None:
        read = self.read_back(STUDY, tmp_path)
        assert read == STUDY
        assert read.order() == STUDY.order()

    def test_it_begins_with_its_question(self, tmp_path: Path) -> None:
        self.read_back(STUDY, tmp_path)
        assert (
            (tmp_path / STUDY_FILE).read_text().startswith("# Which is\n# faster?\n\nschema = 1\n")
        )

    def test_a_few_lines_by_hand_are_a_study(self, tmp_path: Path) -> None:
        (tmp_path / STUDY_FILE).write_text(
            'schema = 1\n[base]\nworkload = "tpch"\nengine = "duckdb"\nscale = 1\n'
            '[[variants]]\nname = "one"\nchanges = {settings = {threads = "1"}}\n'
        )
        read = read_study(read_study_file(tmp_path / STUDY_FILE), "study.toml")
        assert read.base == RunRequest("tpch", "duckdb", 1.0)
        assert (read.repetitions, read.seed, read.question) == (1, 1, "")
        assert read.request("one").settings == {"threads": "1"}

    def test_no_secret_stands_in_it(self, tmp_path: Path) -> None:
        base = replace(
            BASE, dsn="postgresql://me:hunter2@host/db", settings={"s3_secret": "hunter2"}
        )
        variant = Variant("v", {"settings": {"token": "hunter2"}, "dsn": "user=a password=hunter2"})
        write_study(tmp_path, Study("?", base, (variant,), 1).facts())
        assert "hunter2" not in (tmp_path / STUDY_FILE).read_text()

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"schema": 2}, "schema is 2; this Assay reads 1"),
            ({"repetitons": 3}, "'repetitons'; did you mean 'repetitions'"),
            ({"repetitions": 0}, "repetitions is a whole number"),
            ({"seed": "x"}, "seed is a whole number"),
            ({"base": None}, "base is missing: write \\[base\\]"),
            ({"base": {"workload": "tpch", "engine": "e"}}, "base: scale: "),
            ({"base": {"workload": "w", "engine": "e", "scale": "x"}}, "base: scale: .*number"),
            ({"base": {"workload": "w", "engin": "e"}}, "'engin'; did you mean 'engine'"),
            ({"variants": []}, "it has no variants"),
            ({"variants": [{"nam": "a"}]}, "'nam'; did you mean 'name'"),
            ({"variants": [{"name": "a"}, {"name": "a"}]}, "two variants are named 'a'"),
            ({"variants": [{"name": ""}]}, "a variant has a name"),
            ({"variants": [{"name": "a", "changes": {"setings": {}}}]}, "'setings'; did you mean"),
            ({"variants": [{"name": "a", "changes": {"scale": "x"}}]}, "changes of 'a': scale"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_key(
        self, change: dict[str, object], words: str
    ) -> None:
        document = {
            key: value for key, value in {**STUDY.facts(), **change}.items() if value is not None
        }
        with pytest.raises(UsageError, match=words) as raised:
            read_study(document, "my/study.toml")
        assert str(raised.value).startswith("my/study.toml: ")
