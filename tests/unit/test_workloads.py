"""A workload is a folder; what is wrong in it is told with file, key and the nearest right word."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.workloads.contract import Workload, find_workload, find_workloads, read_workload
from assay.workloads.generate import table_stream

SEEDS = range(200)

MANIFEST = """
name = "made"
title = "Made"
about = "Made for a test."
arrival = "power"
order = ["q1"]
[operations.q1]
title = "first"
[operations.q1.parameters]
n = { default = 1, integer = [1, 3] }
[operations.q1.answer]
n = "exact"
"""


def a_workload(root: Path, manifest: str = MANIFEST, text: str = "select ${n} as n\n") -> Path:
    folder = root / "made"
    (folder / "operations").mkdir(parents=True)
    (folder / "workload.toml").write_text(manifest, encoding="utf-8")
    (folder / "operations" / "q1.sql").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def tpch() -> Workload:
    return find_workload("tpch")


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as told:
        read_workload(folder)
    assert str(folder / "workload.toml") in str(told.value)
    return str(told.value)


class TestManifest:
    @pytest.mark.parametrize(
        ("right", "wrong", "key", "hint"),
        [
            ('title = "Made"', 'titel = "Made"\ntitle = "Made"', "titel", "did you mean 'title'"),
            ('title = "first"', 'titl = "first"', "operations.q1.titl", "did you mean 'title'"),
            ("[operations.q1.answer]", "[operations.q1.answr]", "operations.q1.answr", "'answer'"),
            (
                "[operations.q1]\n",
                "[tolerance]\nsum_absolut = 1.0\n[operations.q1]\n",
                "tolerance.sum_absolut",
                "did you mean 'sum_absolute'",
            ),
        ],
    )
    def test_an_unknown_key_is_named_with_the_nearest_known_one(
        self, tmp_path: Path, right: str, wrong: str, key: str, hint: str
    ) -> None:
        told = refusal(a_workload(tmp_path, MANIFEST.replace(right, wrong, 1)))
        assert f": {key}: " in told
        assert hint in told

    def test_a_missing_key_is_named_without_a_silly_suggestion(self, tmp_path: Path) -> None:
        told = refusal(a_workload(tmp_path, MANIFEST.replace('title = "Made"\n', "", 1)))
        assert told.endswith("title: Field required")

    def test_a_kind_of_column_that_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        told = refusal(a_workload(tmp_path, MANIFEST.replace('n = "exact"', 'n = "about"')))
        assert "operations.q1.answer.n" in told

    def test_an_order_that_names_an_unknown_operation_is_refused(self, tmp_path: Path) -> None:
        told = refusal(a_workload(tmp_path, MANIFEST.replace('["q1"]', '["q1", "q11"]')))
        assert "'q11'" in told
        assert "did you mean 'q1'" in told

    @pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b""])
    def test_what_is_no_manifest_is_refused(self, tmp_path: Path, content: bytes) -> None:
        folder = a_workload(tmp_path)
        (folder / "workload.toml").write_bytes(content)
        refusal(folder)


class TestDiscovery:
    def test_an_unknown_workload_suggests_the_nearest(self) -> None:
        with pytest.raises(UsageError, match=r"unknown workload 'tcph'; did you mean 'tpch'\?"):
            find_workload("tcph")

    def test_a_folder_of_somebody_else_is_found_by_its_variable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_workload(tmp_path)
        assert "made" not in find_workloads()
        monkeypatch.setenv("ASSAY_WORKLOADS", f"/nowhere:{tmp_path}")
        assert find_workload("made").facts.title == "Made"
        assert "tpch" in find_workloads()

    def test_a_folder_of_somebody_else_does_not_hide_ours(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_workload(tmp_path, MANIFEST.replace('name = "made"', 'name = "tpch"'))
        monkeypatch.setenv("ASSAY_WORKLOADS", str(tmp_path))
        assert find_workload("tpch").facts.title == "TPC-H"


class TestStatement:
    def test_a_dialects_file_goes_before_the_plain_one_in_the_engines_order(
        self, tmp_path: Path
    ) -> None:
        folder = a_workload(tmp_path)
        for dialect in ("old", "new"):
            (folder / "operations" / f"q1.{dialect}.sql").write_text("select 2", encoding="utf-8")
        workload = read_workload(folder)
        chosen = [
            workload.statement("q1", dialects, 1.0, None, 0).file
            for dialects in [(), ("new", "old"), ("other", "old"), ("other",)]
        ]
        assert chosen == ["q1.sql", "q1.new.sql", "q1.old.sql", "q1.sql"]

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path)
        (folder / "operations" / "q1.sql").unlink()
        with pytest.raises(UsageError, match=r"q1\.sql is missing"):
            read_workload(folder).statement("q1", (), 1.0, None, 0)

    def test_a_placeholder_without_a_rule_is_refused_with_the_file(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path, text="select ${m}")
        with pytest.raises(UsageError, match=r"q1\.sql: .*m"):
            read_workload(folder).statement("q1", (), 1.0, None, 0)

    def test_values_stand_beside_the_text_that_they_are_in(self, tmp_path: Path) -> None:
        statement = read_workload(a_workload(tmp_path)).statement("q1", (), 1.0, None, 0)
        assert (statement.text, statement.parameters) == ("select 1 as n\n", {"n": ["1"]})


class TestContentHash:
    @pytest.mark.parametrize(
        "name", ["workload.toml", "operations/q1.sql", "operations/q1.new.sql"]
    )
    def test_what_defines_the_measurement_changes_it(self, tmp_path: Path, name: str) -> None:
        folder = a_workload(tmp_path)
        before = read_workload(folder).content_hash
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert read_workload(folder).content_hash != before

    def test_words_about_it_do_not(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path)
        before = read_workload(folder).content_hash
        (folder / "README.md").write_text("words", encoding="utf-8")
        assert read_workload(folder).content_hash == before


class TestTpch:
    @pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 10.0, 30.0, 1000.0])
    def test_the_fraction_of_q11_shrinks_with_the_scale(self, tpch: Workload, scale: float) -> None:
        """Clause 2.4.11.3: FRACTION is 0.0001 / SF. It is written with ten decimal places."""
        statement = tpch.statement("q11", (), scale, None, 0)
        fraction = Decimal(statement.parameters["fraction"][0])
        assert fraction == (Decimal("0.0001") / Decimal(str(scale))).quantize(Decimal("1e-10"))
        assert f"* {fraction:f}" in statement.text

    def test_defaults_leave_no_placeholder(self, tpch: Workload) -> None:
        for operation in tpch.facts.order:
            assert "${" not in tpch.statement(operation, (), 1.0, None, 0).text

    def test_the_same_seed_gives_the_same_text(self, tpch: Workload) -> None:
        for operation in tpch.facts.order:
            texts = {tpch.statement(operation, (), 1.0, 7, 0).text for _ in range(3)}
            assert len(texts) == 1

    def test_seeds_and_streams_draw_by_themselves(self, tpch: Workload) -> None:
        drawn = {
            tpch.statement("q16", (), 1.0, seed, stream).text
            for seed in (1, 2)
            for stream in (0, 1)
        }
        assert len(drawn) == 4

    def test_every_value_of_a_short_range_is_drawn(self, tpch: Workload) -> None:
        drawn = {tpch.statement("q18", (), 1.0, s, 0).parameters["quantity"][0] for s in SEEDS}
        assert drawn == {"312", "313", "314", "315"}

    @pytest.mark.parametrize(("scale", "folder"), [(0.01, "sf0.01"), (0.1, "sf0.1"), (1.0, "sf1")])
    def test_answers_are_kept_for_three_scales(
        self, tpch: Workload, scale: float, folder: str
    ) -> None:
        answers = tpch.answers(scale)
        assert answers is not None
        assert answers.name == folder
        assert len(list(answers.glob("*.csv"))) == len(tpch.facts.order)

    def test_for_other_scales_there_are_none(self, tpch: Workload) -> None:
        assert tpch.answers(3.0) is None

    def test_the_order_is_the_power_tests(self, tpch: Workload) -> None:
        """Oracle: row 0 of the specification's appendix A, as published."""
        power = [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12]
        assert [int(name.removeprefix("q")) for name in tpch.facts.order] == power

    def test_every_engine_that_loads_tables_finds_a_text(self, tpch: Workload) -> None:
        dialects = find_engine("duckdb").facts.dialects
        for operation in tpch.facts.order:
            assert tpch.statement(operation, dialects, 1.0, None, 0).text.strip()


class TestGenerator:
    def test_a_wrong_table_or_scale_is_a_usage_error(self) -> None:
        with pytest.raises(UsageError, match="out of range"):
            table_stream("tpch", "region", 0.0, 1)
        with pytest.raises(UsageError, match="has no table"):
            table_stream("tpch", "regions", 1.0, 1)

    def test_every_table_of_the_workload_is_generated(self, tpch: Workload) -> None:
        for table in tpch.facts.tables:
            assert table_stream("tpch", table, 0.01, 1).rows_expected > 0
