"""A workload is a folder; what is wrong in it is told with file, key and the nearest right word."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.workloads.answers import answers_folder, kept_rows
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload, find_workloads, read_workload
from assay.workloads.generate import table_stream
from assay.workloads.recording import recorded

SEEDS = range(1, 201)

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


def a_folder(root: Path, files: dict[str, str]) -> Path:
    folder = root / "my-queries"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as error:
        read_workload(folder)
    assert str(folder) in str(error.value)
    return str(error.value)


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
            (
                "integer = [1, 3]",
                "intger = [1, 3]",
                "operations.q1.parameters.n.intger",
                "did you mean 'integer'",
            ),
            (
                "[operations.q1]\n",
                "[constants]\nn = { time_scale = 3 }\n[operations.q1]\n",
                "constants.n.time_scale",
                "did you mean 'times_scale'",
            ),
        ],
    )
    def test_an_unknown_key_is_named_with_the_nearest_known_one(
        self, tmp_path: Path, right: str, wrong: str, key: str, hint: str
    ) -> None:
        message = refusal(a_workload(tmp_path, MANIFEST.replace(right, wrong, 1)))
        assert f": {key}: " in message
        assert hint in message

    def test_a_kind_of_column_that_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        message = refusal(a_workload(tmp_path, MANIFEST.replace('n = "exact"', 'n = "about"')))
        assert "operations.q1.answer.n" in message

    def test_an_order_that_names_an_unknown_operation_is_refused(self, tmp_path: Path) -> None:
        message = refusal(a_workload(tmp_path, MANIFEST.replace('["q1"]', '["q1", "q11"]')))
        assert "'q11'" in message
        assert "did you mean 'q1'" in message

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ('name = "a/b"', "name: String should match"),
            ("scale_default = 0.0", "scale_default: Input should be greater than 0"),
            ('arrival = "open"', "arrival: Input should be 'power' or 'closed'"),
            ("[constants]\nn = { }", "constants.n: Value error, write a number"),
            ("[constants]\n'n m' = 1", "constants.n m.[key]: String should match"),
            ("[constants]\nn = [1]", "constants.n: Value error, the value must be a single value"),
            ("[operations.q1]\nweight = 0", "operations.q1.weight: Input should be greater"),
            ("[operations.q1]\nrows = -1", "operations.q1.rows: Input should be greater"),
            (
                "[operations.q1.parameters]\nn = { choice = [1], times_scale = true }",
                "times_scale needs the key integer",
            ),
            ('tables = ["t"]', "[tables] needs a generator, and none is named. If"),
            ('after = ["q1"]', "every operation is in `after`"),
            ('order = ["q1"]\nafter = ["q1"]', "'q1' is in order and in after"),
            ('after = ["q11"]', "after names 'q11', and q11.sql is missing; did you mean 'q1'"),
            ("[operations.q2]", "operations names 'q2', and q2.sql is missing"),
            (
                "[constants]\nn = 1\n[operations.q1.parameters]\nn = { integer = [1, 2] }",
                "as a constant and as a parameter of 'q1'",
            ),
            ('setup = ["../other.sql"]', "setup names '../other.sql', which is outside"),
        ],
    )
    def test_what_cannot_be_is_refused(self, tmp_path: Path, wrong: str, message: str) -> None:
        assert message in refusal(a_workload(tmp_path, wrong))

    def test_nothing_in_it_is_needed(self, tmp_path: Path) -> None:
        facts = read_workload(a_workload(tmp_path, "")).facts
        assert (facts.name, facts.title, facts.about) == ("made", "made", "")
        assert (facts.arrival, facts.order, facts.scale_default) == ("power", ("q1",), 1.0)
        assert list(facts.operations) == ["q1"]

    def test_an_order_may_leave_operations_out(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path)
        (folder / "operations" / "q2.sql").write_text("select 2", encoding="utf-8")
        assert read_workload(folder).facts.order == ("q1",)
        assert list(read_workload(folder).facts.operations) == ["q1"]

    def test_what_comes_after_is_not_in_the_order(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path, 'after = ["a"]', "select 1")
        (folder / "operations" / "a.sql").write_text("select 2", encoding="utf-8")
        workload = read_workload(folder)
        assert workload.facts.order == ("q1",)
        assert [operation.name for operation in workload.script((), 1.0, 1).operations] == [
            "q1",
            "a",
        ]

    @pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe"])
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


class TestFolder:
    """A folder of somebody's queries, without a manifest."""

    @pytest.mark.parametrize("inside", ["", "operations/"])
    def test_sql_files_are_operations_in_alphabetical_order(
        self, tmp_path: Path, inside: str
    ) -> None:
        files = {f"{inside}{name}.sql": f"select '{name}'" for name in ("b", "c d", "a")}
        folder = a_folder(tmp_path, files)
        workload = find_workload(str(folder))
        assert workload.facts.name == workload.facts.title == "my-queries"
        assert workload.facts.order == ("a", "b", "c d")
        assert (workload.facts.arrival, workload.facts.scale_default) == ("power", 1.0)
        assert not workload.makes_data
        texts = [o.statements[0].text for o in workload.script((), 1.0, 1).operations]
        assert texts == ["select 'a'", "select 'b'", "select 'c d'"]

    def test_a_name_with_blanks_becomes_one_without(self, tmp_path: Path) -> None:
        folder = tmp_path / "my queries (old)"
        folder.mkdir()
        (folder / "a.sql").write_text("select 1", encoding="utf-8")
        facts = read_workload(folder).facts
        assert (facts.name, facts.title) == ("my-queries-old", "my queries (old)")

    def test_it_may_be_named_without_a_slash_and_be_where_one_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = a_folder(tmp_path, {"a.sql": "select 1"})
        monkeypatch.chdir(tmp_path)
        assert find_workload("my-queries").facts.name == "my-queries"
        assert find_workload("./my-queries/").facts.name == "my-queries"
        monkeypatch.chdir(folder)
        assert find_workload(".").facts.name == "my-queries"

    def test_a_name_of_ours_is_not_hidden_by_a_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_folder(tmp_path, {"a.sql": "select 1"}).rename(tmp_path / "tpch")
        monkeypatch.chdir(tmp_path)
        assert find_workload("tpch").facts.title == "TPC-H"
        assert find_workload("./tpch").facts.title == "tpch"

    def test_a_dialects_file_is_no_operation_of_its_own(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"a.sql": "select 1", "a.old.sql": "select 2"})
        workload = read_workload(folder)
        assert workload.facts.order == ("a",)
        assert workload.script(("old",), 1.0, 1).operations[0].statements[0].text == "select 2"

    def test_schema_tables_sql_is_its_setup(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"a.sql": "select 1", "schema/tables.sql": "select 2"})
        workload = read_workload(folder)
        assert workload.makes_data
        assert workload.setup((), 1.0) == {"schema/tables.sql": "select 2"}

    def test_files_that_make_the_data_are_no_operations(self, tmp_path: Path) -> None:
        made = {"tables.sql": "select 2", "tables.old.sql": "select 3", "links.sql": "select 4"}
        manifest = 'setup = ["tables.sql"]\nforeign_keys = "links.sql"\n'
        folder = a_folder(tmp_path, {"a.sql": "select 1", "workload.toml": manifest} | made)
        workload = read_workload(folder)
        assert workload.facts.order == ("a",)
        assert workload.setup(("old",), 1.0) == {"tables.sql": "select 3"}

    def test_a_missing_one_suggests_its_neighbour(self, tmp_path: Path) -> None:
        a_folder(tmp_path, {"a.sql": "select 1"})
        with pytest.raises(UsageError, match=r"is not a folder; did you mean 'my-queries'\?"):
            find_workload(f"{tmp_path}/my-querys")
        (tmp_path / "my-query-results").mkdir()
        with pytest.raises(UsageError, match=r"; known: my-queries$"):
            find_workload(f"{tmp_path}/else")
        with pytest.raises(UsageError, match=r"/nowhere is not there either"):
            find_workload("/nowhere/x")

    def test_a_file_is_none(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"a.sql": "select 1"})
        with pytest.raises(UsageError, match="is not a folder: name the folder"):
            find_workload(f"{folder}/a.sql")

    @pytest.mark.parametrize("files", [{"README.md": "words"}, {"operations/.a.sql": "select 1"}])
    def test_an_empty_one_is_refused(self, tmp_path: Path, files: dict[str, str]) -> None:
        assert "contains no .sql or .rq file: write" in refusal(a_folder(tmp_path, files))

    def test_an_answer_to_nothing_is_refused(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"q1.sql": "select 1", "answers/q11.csv": "n\n1\n"})
        assert ("q11.csv belongs to no operation; did you mean 'q1'?") in refusal(folder)


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

    def test_a_file_for_other_dialects_only_is_told(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"q1.old.sql": "select 1"})
        with pytest.raises(UsageError, match=r"q1\.sql or q1\.new\.sql is missing; .*q1\.old\.sql"):
            read_workload(folder).statement("q1", ("new",), 1.0)

    @pytest.mark.parametrize("text", ["", "-- words\n", " ;; /* x */ ;"])
    def test_a_file_without_a_statement_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(UsageError, match=r"q1\.sql: the file contains no statement"):
            read_workload(a_folder(tmp_path, {"q1.sql": text})).script((), 1.0, 1)

    def test_a_file_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"q1.sql": ""})
        (folder / "q1.sql").write_bytes(b"select '\xff'")
        with pytest.raises(UsageError, match=r"q1\.sql is not UTF-8"):
            read_workload(folder).script((), 1.0, 1)

    def test_a_file_that_cannot_be_read_is_refused(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, {"q1.sql": "select 1"})
        (folder / "workload.toml").mkdir()
        assert "workload.toml cannot be read" in refusal(folder)

    def test_a_placeholder_without_a_rule_is_refused_with_the_file(self, tmp_path: Path) -> None:
        folder = a_workload(tmp_path, text="select ${m}")
        with pytest.raises(UsageError, match=r"q1\.sql: .*m"):
            read_workload(folder).statement("q1", (), 1.0, None, 0)

    def test_values_stand_beside_the_text_that_they_are_in(self, tmp_path: Path) -> None:
        statement = read_workload(a_workload(tmp_path)).statement("q1", (), 1.0, None, 0)
        assert (statement.text, statement.parameters) == ("select 1 as n\n", {"n": ["1"]})


class TestContentHash:
    @pytest.mark.parametrize(
        "name",
        [
            "workload.toml",
            "operations/q1.sql",
            "operations/q1.new.sql",
            "schema/keys.sql",
            "data/fill.sql",
            "data/fill.new.sql",
        ],
    )
    def test_what_defines_the_measurement_changes_it(self, tmp_path: Path, name: str) -> None:
        folder = a_workload(tmp_path, f'setup = ["data/fill.sql"]\n{MANIFEST}')
        (folder / "data").mkdir()
        (folder / "data" / "fill.sql").write_text("select 1", encoding="utf-8")
        before = read_workload(folder).content_hash
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert read_workload(folder).content_hash != before

    @pytest.mark.parametrize(
        "name", ["a.sql", "b.sql", "a.old.sql", "schema/tables.sql", "workload.toml"]
    )
    def test_so_it_does_without_a_manifest(self, tmp_path: Path, name: str) -> None:
        folder = a_folder(tmp_path, {"a.sql": "select 1"})
        before = read_workload(folder).content_hash
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert read_workload(folder).content_hash != before

    @pytest.mark.parametrize(
        ("name", "changes"),
        [
            ("operations/q1.new.sql", False),
            ("schema/keys.new.sql", True),
            ("data/fill.new.sql", True),
            ("rows/things.sql", True),
            ("workload.toml", True),
        ],
    )
    def test_an_operation_in_other_words_has_no_data_loaded_anew(
        self, tmp_path: Path, name: str, *, changes: bool
    ) -> None:
        folder = a_workload(tmp_path, f'setup = ["data/fill.sql"]\n{MANIFEST}')
        (folder / "data").mkdir()
        (folder / "data" / "fill.sql").write_text("select 1", encoding="utf-8")
        before = read_workload(folder)
        hashes = before.content_hash, before.data_hash
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        after = read_workload(folder)
        assert after.content_hash != hashes[0]
        assert (after.data_hash != hashes[1]) is changes

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

    def test_streams_draw_by_themselves(self, tpch: Workload) -> None:
        drawn = {tpch.statement("q16", (), 1.0, 1, stream).text for stream in range(20)}
        assert len(drawn) == 20

    def test_a_stream_has_the_seed_that_is_so_much_higher(self, tpch: Workload) -> None:
        """Clause 2.1.3: stream s is drawn from the seed of the power test plus s."""
        for operation in tpch.facts.order:
            statement = tpch.statement(operation, (), 1.0, 40, 2)
            assert statement == tpch.statement(operation, (), 1.0, 42, 0)

    @pytest.mark.parametrize(("seed", "stream"), [(0, 0), (2**31 - 1, 0), (2**31 - 3, 2)])
    def test_a_seed_that_gives_only_zeros_is_refused(
        self, tpch: Workload, seed: int, stream: int
    ) -> None:
        with pytest.raises(UsageError, match=f"--seed {seed} .*stream {stream} .*another seed"):
            tpch.statement("q07", (), 1.0, seed, stream)

    def test_every_value_of_a_short_range_is_drawn(self, tpch: Workload) -> None:
        drawn = {tpch.statement("q18", (), 1.0, s, 0).parameters["quantity"][0] for s in SEEDS}
        assert drawn == {"312", "313", "314", "315"}

    @pytest.mark.parametrize(("scale", "folder"), [(0.01, "sf0.01"), (0.1, "sf0.1"), (1.0, "sf1")])
    def test_answers_are_kept_for_three_scales(
        self, tpch: Workload, scale: float, folder: str
    ) -> None:
        answers = answers_folder(tpch, scale)
        assert answers is not None
        assert answers.name == folder
        assert len(list(answers.glob("*.csv"))) == len(tpch.facts.order)

    def test_for_other_scales_there_are_none(self, tpch: Workload) -> None:
        assert answers_folder(tpch, 3.0) is None

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


class TestNamesOfMetrics:
    """Only what is TPC-H has the names of its metrics."""

    def copied(self, root: Path, name: str) -> Path:
        ours = find_workload("tpch").folder
        return Path(shutil.copytree(ours, root / name))

    def test_the_workload_itself_has_them(self, tpch: Workload) -> None:
        recorded_facts = recorded(tpch)
        assert recorded_facts["differs_from"] is None
        assert recorded_facts["metrics"]["composite"] == "QphH@${scale}GB"
        assert recorded_facts["queries"] == 22
        assert recorded_facts["streams_minimum"][:2] == [[1, 2], [10, 3]]

    def test_the_same_files_elsewhere_are_the_same_workload(self, tmp_path: Path) -> None:
        assert read_workload(self.copied(tmp_path, "tpch")).differs_from is None

    @pytest.mark.parametrize("name", ["tpch", "mine"])
    def test_a_copy_with_another_query_is_not(self, tmp_path: Path, name: str) -> None:
        folder = self.copied(tmp_path, name)
        (folder / "operations" / "q09.sql").write_text("select count(*) from lineitem\n", "utf-8")
        assert recorded(read_workload(folder))["differs_from"] == "tpch"

    def test_names_of_its_own_are_its_own(self, tmp_path: Path) -> None:
        metrics = '[metrics]\npower = "P"\nthroughput = "T"\ncomposite = "C"\n'
        made = read_workload(a_workload(tmp_path, MANIFEST + metrics))
        assert made.differs_from is None
        assert recorded(made)["metrics"] == {"power": "P", "throughput": "T", "composite": "C"}

    def test_without_the_table_there_are_none(self, tmp_path: Path) -> None:
        assert recorded(read_workload(a_workload(tmp_path)))["metrics"] is None


OWN = """
arrival = "closed"
data_of = "./made"
order = ["q1", "q2"]
checked = ["q1"]
[operations.q2]
title = "own"
"""
THEIRS = """
arrival = "closed"
order = ["q1"]
setup = ["schema/tables.sql"]
[constants]
n = 7
[operations.q1]
title = "theirs"
ordered_by = ["n"]
limit = 3
"""


class TestOperationsOfTheWorkloadWhoseDataAreAsked:
    @pytest.fixture
    def both(self, tmp_path: Path) -> tuple[Workload, Workload]:
        theirs = a_workload(tmp_path, THEIRS)
        (theirs / "schema").mkdir()
        (theirs / "schema/tables.sql").write_text("create table t (n integer)\n")
        (theirs / "answers").mkdir()
        (theirs / "answers/q1.csv").write_text("n\n7\n")
        own = tmp_path / "own"
        (own / "operations").mkdir(parents=True)
        (own / "workload.toml").write_text(OWN.replace("./made", "../made"))
        (own / "operations/q2.sql").write_text("select 2 as n\n")
        return read_workload(own), read_workload(theirs)

    def test_one_that_has_no_file_here_is_theirs(self, both: tuple[Workload, Workload]) -> None:
        own, theirs = both
        script = own.script((), 1.0, 1)
        assert [operation.name for operation in script.operations] == ["q1", "q2", "q1@check"]
        assert script.operations[0].statements == theirs.script((), 1.0, 1).operations[0].statements
        assert "7" in script.operations[0].statements[0].text
        assert own.facts.operations["q1"] == theirs.facts.operations["q1"]
        assert recorded(own)["answer_rules"]["q1@check"]["limit"] == 3

    def test_its_kept_rows_are_theirs_too(self, both: tuple[Workload, Workload]) -> None:
        own, theirs = both
        assert kept_rows(own, 1.0) == {"q1": theirs.folder / "answers/q1.csv"} or [
            path.resolve() for path in kept_rows(own, 1.0).values()
        ] == [(theirs.folder / "answers/q1.csv").resolve()]

    def test_one_with_a_file_of_its_own_is_its_own(self, both: tuple[Workload, Workload]) -> None:
        own, _ = both
        (own.folder / "operations/q1.sql").write_text("select 1 as n\n")
        again = read_workload(own.folder)
        assert again.script((), 1.0, 1).operations[0].statements[0].text == "select 1 as n"
        assert again.facts.operations["q1"].title == ""
        assert kept_rows(again, 1.0) == {}

    def test_what_neither_has_is_refused(self, both: tuple[Workload, Workload]) -> None:
        own, _ = both
        manifest = own.folder / "workload.toml"
        manifest.write_text(manifest.read_text().replace('["q1", "q2"]', '["q1", "q3"]'))
        assert "q3" in refusal(own.folder)


class TestRulesOfAnswers:
    @pytest.mark.parametrize(
        ("reason", "message"),
        [
            ("limit = 3", "name its columns in ordered_by"),
            ("offset = 3", "name its columns in ordered_by"),
            ('more_rows = true\nordered_by = ["n"]', "remove ordered_by"),
        ],
    )
    def test_what_contradicts_itself_is_refused(
        self, tmp_path: Path, reason: str, message: str
    ) -> None:
        text = MANIFEST.replace('title = "first"', f'title = "first"\n{reason}')
        assert message in refusal(a_workload(tmp_path, text))
