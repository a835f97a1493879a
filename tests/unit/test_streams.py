"""Streams and refresh functions of any workload: what its files say, and what is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import UsageError
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload, read_workload
from assay.workloads.refreshing import batches_of

STREAMS = "stream,1,2\n0,a,b\n1,b,a\n"
MANIFEST = """
order = ["a", "b"]
[constants]
table = "sales"
[streams]
orders = "streams.csv"
minimum = [[1, 2], [10, 3], [30, 4]]
[refresh]
insert = "come"
delete = "go"
orders = { times_scale = 10 }
setup = ["refresh/tables.sql"]
keys = ["refresh/keys.sql"]
"""
BATCH = "where s = ${set} and n between ${first} and ${last}"
FILES = {
    "workload.toml": MANIFEST,
    "streams.csv": STREAMS,
    "operations/a.sql": "select 1",
    "operations/b.sql": "select 2",
    "operations/come.sql": f"-- Sales come.\nbegin; insert into ${{table}} {BATCH};\ncommit;\n",
    "operations/come.odd.sql": f"-- why: odd has no begin\nstart; come {BATCH}; commit",
    "operations/go.sql": "begin; delete from ${table} where s = ${set}; commit",
    "refresh/tables.sql": "insert into sets select ${sets}, ${orders}",
    "refresh/keys.sql": "create index i on ${table} (s)",
}


def a_folder(root: Path, **changes: str | None) -> Path:
    """The workload above in a folder; a change is a file's other text, or None to leave it out."""
    folder = root / "sales"
    files = FILES | {
        name.replace("__", "/").replace("_dot_", "."): t for name, t in changes.items()
    }
    for name, text in files.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder


def with_manifest(root: Path, old: str, new: str) -> Path:
    assert old in MANIFEST
    return a_folder(root, workload_dot_toml=MANIFEST.replace(old, new))


def refusal(folder: Path, file: str) -> str:
    with pytest.raises(UsageError) as error:
        read_workload(folder)
    assert str(error.value).startswith(str(folder / file))
    return str(error.value)


@pytest.fixture
def sales(tmp_path: Path) -> Workload:
    return read_workload(a_folder(tmp_path))


class TestStreams:
    def test_the_first_follows_the_last(self, sales: Workload) -> None:
        assert [sales.stream_order(stream) for stream in range(4)] == [("a", "b"), ("b", "a")] * 2

    @pytest.mark.parametrize(
        ("scale", "streams", "standard"),
        [
            (0.01, 2, False),
            (1.0, 2, True),
            (9.9, 2, False),
            (10.0, 3, True),
            (20, 3, False),
            (99, 4, False),
        ],
    )
    def test_a_scale_needs_those_of_the_largest_up_to_it(
        self, sales: Workload, scale: float, streams: int, standard: bool
    ) -> None:
        assert sales.streams_minimum(scale) == streams
        assert sales.scale_is_standard(scale) is standard

    def test_where_none_is_named_every_scale_needs_one(self, tmp_path: Path) -> None:
        folder = with_manifest(tmp_path, "minimum = [[1, 2], [10, 3], [30, 4]]\n", "")
        workload = read_workload(folder)
        assert (workload.streams_minimum(5.0), workload.scale_is_standard(5.0)) == (1, True)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("0,a,b\n1,b,a\n", "its first row names the columns, and it has to be stream,1,...,2"),
            ("stream,1\n0,a\n", "a column for each of the 2 operations of the order"),
            ("", "its first row names the columns"),
            ("# only words\nstream,1,2\n", "has no stream: write a row for stream 0"),
            ("stream,1,2\n0,a\n", "stream 0 lacks 'b'"),
            ("stream,1,2\n0,a,b\n1,a,a\n", "stream 1 plays 'a' 2 times; 1 is right"),
            ("stream,1,2\n0,a,b\n2,a,b\n", "stream 2 stands where stream 1 belongs"),
            ("stream,1,2\n0,a,bb\n", "stream 0 plays 'bb'; did you mean 'b'?"),
            ("stream,1,2\n0,a,b,a\n", "stream 0 plays 'a' 2 times"),
        ],
    )
    def test_a_wrong_file_is_told_with_its_mend(
        self, tmp_path: Path, text: str, message: str
    ) -> None:
        assert message in refusal(a_folder(tmp_path, streams_dot_csv=text), "streams.csv")

    def test_a_missing_file_is(self, tmp_path: Path) -> None:
        assert "cannot be read" in refusal(a_folder(tmp_path, streams_dot_csv=None), "streams.csv")

    def test_scales_go_up(self, tmp_path: Path) -> None:
        folder = with_manifest(tmp_path, "[10, 3]", "[0.5, 3]")
        assert "from the smallest scale to the largest" in refusal(folder, "workload.toml")

    def test_other_orders_are_another_measurement(self, tmp_path: Path, sales: Workload) -> None:
        swapped = a_folder(tmp_path / "other", streams_dot_csv=STREAMS.replace("1,b,a", "1,a,b"))
        assert read_workload(swapped).content_hash != sales.content_hash

    def test_without_them_a_test_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"workload\.toml: there is no \[streams\]"):
            find_workload("point-select").stream_order(0)


class TestRefresh:
    def test_its_operations_are_in_no_order(self, sales: Workload, tmp_path: Path) -> None:
        unordered = with_manifest(tmp_path / "u", 'order = ["a", "b"]\n', "")
        for workload in (sales, read_workload(unordered)):
            assert workload.facts.order == ("a", "b")
            assert set(workload.facts.operations) == {"a", "b", "come", "go"}
            played = workload.script((), 1.0, seed=1).operations
            assert [operation.name for operation in played] == ["a", "b"]

    @pytest.mark.parametrize(("scale", "orders"), [(1.0, 10), (0.01, 1), (0.25, 3), (3.0, 30)])
    def test_a_set_grows_with_the_scale(self, sales: Workload, scale: float, orders: int) -> None:
        assert sales.refresh_orders(scale) == orders

    def test_each_batch_is_a_transaction(self, sales: Workload) -> None:
        statement = sales.refresh_statement("come", 4, 3, (), 1.0)
        assert statement.text == "".join(
            f"{head}begin;\ninsert into sales where s = 4 and n between {first} and {last};\n"
            "commit;\n"
            for head, first, last in [("-- Sales come.\n", 1, 3), ("", 4, 6), ("", 7, 10)]
        )
        assert (statement.file, statement.parameters) == (
            "come.sql",
            {"set": ["4"], "batches": ["3"]},
        )

    def test_a_dialect_has_its_own_text(self, sales: Workload) -> None:
        statement = sales.refresh_statement("come", 1, 1, ("odd",), 1.0)
        assert statement.file == "come.odd.sql"
        assert "come where s = 1 and n between 1 and 10;" in statement.text

    def test_sizes_of_the_sets_are_given_to_their_tables(self, sales: Workload) -> None:
        assert sales.refresh_setup((), 2.0, 5) == {
            "refresh/tables.sql": "insert into sets select 5, 20"
        }
        assert sales.refresh_keys((), 2.0, 5) == {"refresh/keys.sql": "create index i on sales (s)"}

    @pytest.mark.parametrize("batches", [-1, 11])
    def test_more_batches_than_orders_are_refused(self, sales: Workload, batches: int) -> None:
        with pytest.raises(UsageError, match="ask for 1 to 10, or for 0, which makes each order"):
            sales.refresh_statement("go", 1, batches, (), 1.0)

    def test_a_text_that_asks_for_more_is_refused(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, operations__go_dot_sql="delete ${lost}")
        with pytest.raises(UsageError, match=r"go\.sql: parameter lost: the text asks for it"):
            read_workload(folder).refresh_statement("go", 1, 1, (), 1.0)

    @pytest.mark.parametrize("name", ["refresh/tables.sql", "refresh/keys.sql"])
    def test_another_table_is_another_measurement(
        self, tmp_path: Path, sales: Workload, name: str
    ) -> None:
        key = name.replace("/", "__").replace(".", "_dot_")
        changed = a_folder(tmp_path / "other", **{key: "create table other (n integer)"})
        assert read_workload(changed).content_hash != sales.content_hash

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('delete = "go"', 'delete = "gone"', "names 'gone', and gone.sql is missing"),
            ('delete = "go"', 'delete = "come"', "insert and delete have to be two operations"),
            ('delete = "go"\n', "", "refresh.delete: Field required"),
            ("setup = [", "set_up = [", "did you mean 'setup'?"),
            ("times_scale = 10", "times = 10", "did you mean 'times_scale'?"),
            ("{ times_scale = 10 }", '"many"', "orders has to be a whole number"),
            ('order = ["a", "b"]', 'order = ["a", "go"]', "'go' is in [refresh]"),
            ('"refresh/keys.sql"', '"../keys.sql"', "refresh.keys names '../keys.sql'"),
            ("[refresh]", '[refresh]\ntables = ["t"]', "filled by a generator; name it"),
            ("[constants]", 'arrival = "closed"\n[constants]', 'goes with arrival = "power"'),
            (
                "[constants]",
                "[operations.go.parameters]\nn = { default = 1 }\n[constants]",
                "has no parameters of its own",
            ),
        ],
    )
    def test_a_wrong_key_is_told_with_its_mend(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        assert message in refusal(with_manifest(tmp_path, old, new), "workload.toml")

    def test_without_them_a_test_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"workload\.toml: there is no \[refresh\]"):
            find_workload("tpcb").refresh_orders(1.0)


class TestParameters:
    @pytest.mark.parametrize(
        ("hint", "message"),
        [
            ('source = "qgen"', 'source = "qgen" goes with sequences'),
            ('sequences = ["a", "b"]', 'source = "qgen" goes with sequences'),
            ('source = "qgen"\nsequences = ["a"]', "parameters.sequences lacks 'b'"),
            (
                'source = "qgen"\nsequences = ["a", "b", "a"]',
                "an operation has one of the sequences",
            ),
            ('source = "qgen"\nsequences = ["a", "b", "c"]', "names 'c', and c.sql is missing"),
            ('source = "dice"', "parameters.source"),
            ('sauce = "qgen"', "did you mean 'source'?"),
        ],
    )
    def test_a_wrong_source_is_told_with_its_mend(
        self, tmp_path: Path, hint: str, message: str
    ) -> None:
        folder = with_manifest(tmp_path, "[streams]", f"[parameters]\n{hint}\n[streams]")
        assert message in refusal(folder, "workload.toml")

    @pytest.mark.parametrize(
        ("rule", "message"),
        [
            ("{ integer = [1, 9], shuffled = true }", "shuffled goes with distinct"),
            ('{ words = [["a"]], keep = [0] }', "keep goes with combination"),
            ('{ combination = [["a"]], keep = [-1] }', "keep.0"),
        ],
    )
    def test_a_rule_without_its_companion_is_told(
        self, tmp_path: Path, rule: str, message: str
    ) -> None:
        new = f"[operations.a.parameters]\nn = {rule}\n[streams]"
        assert message in refusal(with_manifest(tmp_path, "[streams]", new), "workload.toml")


@given(orders=st.integers(1, 400), batches=st.integers(0, 400))
def test_batches_hold_each_order_once(orders: int, batches: int) -> None:
    if batches > orders:
        batches %= orders + 1
    spans = batches_of(orders, batches)
    assert len(spans) == (batches or orders)
    assert [n for first, last in spans for n in range(first, last + 1)] == list(
        range(1, orders + 1)
    )
    sizes = {last - first + 1 for first, last in spans}
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1
