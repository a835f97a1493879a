"""The engine `virtuoso` without a server: rows in its form, its configuration, its programs."""

from __future__ import annotations

import datetime
import struct
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.engines.virtuoso import configuration
from assay.engines.virtuoso.connecting import filled
from assay.engines.virtuoso.programs import Programs, find_programs
from assay.engines.virtuoso.serialising import serialised


class Reader:
    """Reads values back, as the server's own documents describe their form."""

    def __init__(self, held: bytes) -> None:
        self._held, self._at = held, 0

    def vector(self) -> list[object]:
        assert self._taken(2) == b"\xc1\xbd"
        (size,) = struct.unpack(">i", self._taken(4))
        return [self._value() for _ in range(size)]

    def columns(self) -> list[list[object]]:
        assert self._taken(2) == b"\xc1\xbd"
        (size,) = struct.unpack(">i", self._taken(4))
        columns = [self.vector() for _ in range(size)]
        assert self._at == len(self._held)
        return columns

    def _taken(self, size: int) -> bytes:
        self._at += size
        return self._held[self._at - size : self._at]

    def _value(self) -> object:  # noqa: PLR0911 - a case a kind
        match self._taken(1)[0]:
            case 0xCC:
                return None
            case 0xBD:
                return struct.unpack(">i", self._taken(4))[0]
            case 0xF7:
                return struct.unpack(">q", self._taken(8))[0]
            case 0xBF:
                return struct.unpack(">d", self._taken(8))[0]
            case 0xB5:
                return self._taken(self._taken(1)[0]).decode()
            case 0xB6:
                return self._taken(struct.unpack(">i", self._taken(4))[0]).decode()
            case 0xD3:
                day = int.from_bytes(self._taken(3), "big")
                assert self._taken(7) == bytes.fromhex("80000000004000")
                return datetime.date(1970, 1, 1) + datetime.timedelta(days=day - 719_165)
            case tag:
                raise AssertionError(f"an unknown kind of value: {tag:#x}")


def read_back(batch: pa.RecordBatch) -> list[list[object]]:
    return Reader(b"".join(map(bytes, serialised(batch)))).columns()


def batch_of(**columns: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


TEXTS = st.text(max_size=300).filter(lambda text: text.isprintable())
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-(1 << 63), (1 << 63) - 1)),
        st.one_of(st.none(), TEXTS),
        st.one_of(st.none(), st.dates(datetime.date(1000, 1, 1), datetime.date(1020, 1, 1))),
        st.decimals(-(10**12), 10**12, places=2),
    ),
    max_size=20,
)


class TestSerialising:
    @given(ROWS)
    def test_what_was_written_is_read(self, rows: list[tuple[object, ...]]) -> None:
        whole, texts, dates, money = ([row[place] for row in rows] for place in range(4))
        batch = batch_of(
            whole=pa.array(whole, pa.int64()),
            texts=pa.array(texts, pa.string()),
            dates=pa.array(dates, pa.date32()),
            money=pa.array(money, pa.decimal128(15, 2)),
        )
        nearest = [float(value) for value in money]  # type: ignore[arg-type]
        assert read_back(batch) == [whole, texts, dates, nearest]

    def test_a_slice_begins_where_it_begins(self) -> None:
        batch = batch_of(number=pa.array(range(10)), text=pa.array([str(n) for n in range(10)]))
        assert read_back(batch.slice(3, 2)) == [[3, 4], ["3", "4"]]

    def test_no_rows(self) -> None:
        types = (pa.int64(), pa.string(), pa.date32(), pa.decimal128(15, 2))
        batch = batch_of(**{str(kind): pa.array([], kind) for kind in types})
        assert read_back(batch) == [[], [], [], []]

    def test_a_long_decimal_is_the_nearest_number(self) -> None:
        batch = batch_of(number=pa.array([Decimal("12345678901234567.89")], pa.decimal128(20, 2)))
        assert read_back(batch) == [[12345678901234567.89]]

    def test_what_it_does_not_know_is_named(self) -> None:
        with pytest.raises(EngineError, match=r"column spans of type duration"):
            read_back(batch_of(spans=pa.array([datetime.timedelta(1)])))


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """A program that has the names of settings in it, and nothing else."""
    names = (
        *(name for _, name, _ in configuration.known_settings().values()),
        "Rare",
        "ServerPort",
    )
    program = tmp_path / "bin" / "virtuoso-t"
    program.parent.mkdir()
    program.write_bytes(b"\0" + b"\0".join(name.encode() for name in names) + b"\0")
    return find_programs(tmp_path)


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("NumberOfBuffers", "20000"),
            ("numberofbuffers", "20000"),
            ("MaxQueryMem", "2G"),
            ("AdjustVectorSize", "0"),
            ("Parameters.Rare", "any thing"),
            ("statistics", "analyze"),
        ],
    )
    def test_what_is_taken(self, programs: Programs, name: str, value: str) -> None:
        configuration.check({name: value}, programs)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("NumberOfBufers", "20000", "NumberOfBuffers"),
            ("NumberOfBuffers", "2G", r"the value must be a whole number\."),
            ("NumberOfBuffers", "4096", "Virtuoso uses at least 20000 buffers"),
            ("ThreadsPerQuery", "0", "a whole number above 0"),
            ("AdjustVectorSize", "yes", "0 or 1"),
            ("statistics", "some", "none or analyze"),
            (
                "Parameters.ServerPort",
                "1111",
                r"Assay itself sets Parameters\.ServerPort on a server that it starts",
            ),
            ("Parameters.NoSuch", "1", "has no setting"),
            ("Parameters.Rare", "a;b", "without a semicolon"),
        ],
    )
    def test_what_is_refused(self, programs: Programs, name: str, value: str, message: str) -> None:
        with pytest.raises(EngineError, match=message):
            configuration.check({name: value}, programs)

    def test_what_was_asked_for_is_over_what_we_say(self) -> None:
        made = configuration.configured({"vectorsize": "77", "NumberOfBuffers": "4000"})
        assert made["Parameters"]["VectorSize"] == "77"
        assert made["Parameters"]["MaxDirtyBuffers"] == "3000"
        assert made["Parameters"]["CheckpointInterval"] == "0"

    def test_statistics_are_none_of_the_servers_affairs(self) -> None:
        assert "statistics" not in configuration.text(
            configuration.configured({"statistics": "none"})
        )

    def test_a_file_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        made = configuration.configured()
        file = tmp_path / "virtuoso.ini"
        file.write_text(configuration.text(made), encoding="utf-8")
        assert configuration.read(file) == made

    def test_a_buffer_is_told_in_pages(self) -> None:
        advising = find_engine("virtuoso").advising()
        assert advising.setting("cache", str(256 << 20)) == ("NumberOfBuffers", "32768")
        assert advising.setting("cache", "8193") == ("NumberOfBuffers", "2")


class TestPrograms:
    def test_libraries_that_were_unpacked_are_found_beside_them(self, tmp_path: Path) -> None:
        for place in ("usr/bin", "usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"):
            (tmp_path / place).mkdir(parents=True)
        (tmp_path / "usr/bin/virtuoso-t").touch()
        found_programs = find_programs(tmp_path)
        assert found_programs.library_path.split(":") == [
            str(tmp_path / "lib/x86_64-linux-gnu"),
            str(tmp_path / "usr/lib/x86_64-linux-gnu"),
        ]

    def test_programs_that_are_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="--bin-dir"):
            find_programs(tmp_path)

    def test_what_is_no_virtuoso(self, tmp_path: Path) -> None:
        program = tmp_path / "virtuoso-t"
        program.write_text("#!/bin/sh\necho something else\n")
        program.chmod(0o755)
        with pytest.raises(EngineError, match=r"is not Virtuoso: something else\."):
            find_programs(tmp_path).version()


def test_fields_of_a_file_are_filled_and_braces_stay() -> None:
    made = filled(
        "load.sql",
        name="n",
        table='"t"',
        columns='"c"',
        vectors="v0",
        taken="v0 := aref_set_0 (rows, 0);",
        rows="in c0 any array := v0",
        values="c0",
    )
    assert 'insert into "t" ("c") values (c0);' in made
    assert made.count("{") == made.count("}") == 3
