"""Files of a record that would fill the memory are refused before they are read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from assay.cli.main import run_command
from assay.model.errors import RecordUnreadableError
from assay.record import arrow_limits
from assay.record.arrow_limits import refuse_compressed_file, refuse_compressed_stream
from assay.record.reader import Run
from assay.record.streams import read_result
from tests.records import write_run

# Some kilobytes on disk.
ROWS = 4 << 20
PLAIN = pa.table({"number": pa.array([7] * 1000), "name": ["one", "two"] * 500})
DICTIONARY = pa.table({"name": pa.array(["a", "b"] * 50).dictionary_encode()})
NULLS = pa.table({"nothing": pa.nulls(10)})
Write = Callable[[Path, pa.Table, str | None], None]


def write_stream(path: Path, table: pa.Table, compression: str | None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


def write_file(path: Path, table: pa.Table, compression: str | None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


def write_legacy_stream(path: Path, table: pa.Table, compression: str | None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression, use_legacy_format=True)
    with pa.ipc.new_stream(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


FORMS = {
    "stream": (write_stream, refuse_compressed_stream),
    "legacy stream": (write_legacy_stream, refuse_compressed_stream),
    "file": (write_file, refuse_compressed_file),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("table", [PLAIN, DICTIONARY, NULLS], ids=["plain", "dictionary", "nulls"])
class TestCompression:
    def test_a_plain_one_is_read(self, form: str, table: pa.Table, tmp_path: Path) -> None:
        write, refuse = FORMS[form]
        write(tmp_path / "x", table, None)
        refuse(tmp_path / "x")

    @pytest.mark.parametrize("compression", ["zstd", "lz4"])
    def test_a_compressed_one_is_refused(
        self, form: str, table: pa.Table, compression: str, tmp_path: Path
    ) -> None:
        write, refuse = FORMS[form]
        write(tmp_path / "x", table, compression)
        with pytest.raises(RecordUnreadableError, match=r"x is compressed, and a small"):
            refuse(tmp_path / "x")


def test_a_stream_that_grows_while_it_is_read_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, messages = tmp_path / "x", 6
    with pa.ipc.new_stream(str(path), PLAIN.schema) as writer:
        for _ in range(messages - 1):
            writer.write_table(PLAIN)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    checked = []

    def check(message: object, place: Path) -> None:
        checked.append(message)
        assert len(checked) <= messages
        # The rest is there before the first half has been read.
        place.write_bytes(whole)

    monkeypatch.setattr(arrow_limits, "_refuse_compressed", check)
    refuse_compressed_stream(path)
    assert len(checked) == messages


def test_a_compressed_dictionary_alone_is_refused(tmp_path: Path) -> None:
    """The batch that has the dictionary comes before plain ones."""
    packed, plain = tmp_path / "packed", tmp_path / "plain"
    write_stream(packed, DICTIONARY, "zstd")
    write_stream(plain, DICTIONARY, None)
    schema_bytes = _message_bytes(plain.read_bytes(), 0)
    begin = len(schema_bytes)
    dictionary = _message_bytes(packed.read_bytes(), begin)
    mixed = tmp_path / "mixed"
    mixed.write_bytes(schema_bytes + dictionary)
    with pytest.raises(RecordUnreadableError, match="compressed"):
        refuse_compressed_stream(mixed)


def _message_bytes(stream: bytes, begin: int) -> bytes:
    """One message of a stream: its prefix, metadata and body."""
    metadata = int.from_bytes(stream[begin + 4 : begin + 8], "little")
    table = arrow_limits._Table.root(stream[begin + 8 : begin + 8 + metadata])
    return stream[begin : begin + 8 + metadata + table.long(arrow_limits.BODY_LENGTH)]


@pytest.mark.parametrize("form", FORMS)
def test_any_part_of_a_file_is_read_or_an_error(form: str, tmp_path: Path) -> None:
    """A run that was killed leaves a part of a stream."""
    write, refuse = FORMS[form]
    write(tmp_path / "x", DICTIONARY, None)
    whole = (tmp_path / "x").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "x").write_bytes(whole[:length])
        if form == "file":
            with pytest.raises(ValueError, match=r"."):
                refuse(tmp_path / "x")
        else:
            refuse(tmp_path / "x")


@pytest.mark.parametrize("form", FORMS)
def test_any_flipped_bit_is_read_or_an_error(form: str, tmp_path: Path) -> None:
    write, refuse = FORMS[form]
    write(tmp_path / "x", DICTIONARY, None)
    whole = (tmp_path / "x").read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "x").write_bytes(damaged)
        try:
            refuse(tmp_path / "x")
        except (ValueError, RecordUnreadableError):
            continue


class TestRecords:
    @pytest.fixture
    def record(self, tmp_path: Path) -> Path:
        return write_run(tmp_path / "runs")

    @pytest.mark.parametrize("command", ["show", "report", "explain", "export"])
    def test_commands_name_a_compressed_stream_and_go_on_without_it(
        self,
        command: str,
        record: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        events = Run(record).table("events").to_arrow()
        path = record / "raw" / "events.arrows"
        write_stream(path, pa.concat_tables([events] * 10), "zstd")
        (record / "SEAL").unlink(missing_ok=True)
        assert run_command([command, str(record)]) == 0
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        if command == "show":
            assert "events.arrows is compressed" in " ".join(said.out.split())
        with pytest.raises(RecordUnreadableError, match=r"events\.arrows is compressed"):
            Run(record).table("events")

    def test_a_compressed_result_is_refused_without_memory(self, tmp_path: Path) -> None:
        table = pa.table({"n": pa.array([0], pa.int64()).take(pa.array([0] * ROWS))})
        write_file(tmp_path / "x.arrow", table, "zstd")
        assert (tmp_path / "x.arrow").stat().st_size < table.nbytes / 1000
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        with pytest.raises(RecordUnreadableError, match="compressed"):
            read_result(tmp_path / "x.arrow")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 20
        assert pa.total_allocated_bytes() == before

    def test_more_rows_than_bytes_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_file(tmp_path / "x.arrow", pa.table({"n": pa.nulls(200_000)}), None)
        assert read_result(tmp_path / "x.arrow").height == 200_000
        monkeypatch.setattr(arrow_limits, "ROWS_FREE", 100_000)
        with pytest.raises(RecordUnreadableError, match="states 200,000 rows"):
            read_result(tmp_path / "x.arrow")

    def test_a_bit_for_each_row_is_enough(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(arrow_limits, "ROWS_FREE", 0)
        write_file(tmp_path / "x.arrow", pa.table({"b": pa.array([True] * 100_000)}), None)
        assert read_result(tmp_path / "x.arrow").height == 100_000
