"""A study is planned in a balanced order, and reading its file back gives the same study."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from assay.record.studies import STUDY_FILE, read_study_file, write_study
from assay.study.request import RunRequest
from assay.study.variants import Study, Variant, difference, interleaved

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
    def test_it_begins_with_its_question(self, tmp_path: Path) -> None:
        write_study(tmp_path, STUDY.facts())
        text = (tmp_path / STUDY_FILE).read_text()
        assert text.startswith("# Which is\n# faster?\n\nschema = 1\n")

    def test_it_tells_what_differs_from_an_ordinary_request(self, tmp_path: Path) -> None:
        write_study(tmp_path, STUDY.facts())
        told = read_study_file(tmp_path / STUDY_FILE)
        assert told["base"]["settings"] == BASE.settings
        assert "probe_interval_s" not in told["base"]
        assert [one["name"] for one in told["variants"]] == [one.name for one in STUDY.variants]

    def test_no_secret_stands_in_it(self, tmp_path: Path) -> None:
        base = replace(
            BASE, dsn="postgresql://me:hunter2@host/db", settings={"s3_secret": "hunter2"}
        )
        variant = Variant("v", {"settings": {"token": "hunter2"}, "dsn": "user=a password=hunter2"})
        write_study(tmp_path, Study("?", base, (variant,), 1).facts())
        assert "hunter2" not in (tmp_path / STUDY_FILE).read_text()
