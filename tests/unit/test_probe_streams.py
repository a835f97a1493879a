"""What probes of this language write is what readers find, whatever is null."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.probes.streams import ACTIVITY, ENGINE, Stream

WORDS = st.none() | st.text(max_size=4)
ROWS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 2**32 - 1),
        WORDS,
        st.none() | st.integers(0, 2**32 - 1),
        *[WORDS] * 4,
        *[st.none() | st.integers(0, 2**32 - 1)] * 2,
    ),
    max_size=20,
)


def names(columns: list[tuple[str, str, bool]]) -> list[str]:
    return [name for name, _, _ in columns]


@given(batches=st.lists(ROWS, max_size=4))
def test_rows_come_back_as_they_went(tmp_path_factory, batches):
    raw = tmp_path_factory.mktemp("raw")
    with Stream(raw, "activity", ACTIVITY) as stream:
        for rows in batches:
            for row in rows:
                stream.push(*row)
            stream.flush()
    with pa.ipc.open_stream(raw / "activity.arrows") as reader:
        all_rows = [tuple(row.values()) for row in reader.read_all().to_pylist()]
    assert all_rows == list(chain(*batches))


def test_one_without_rows_is_readable_before_it_is_closed(tmp_path: Path) -> None:
    """A run that is killed leaves streams that nobody closed."""
    stream = Stream(tmp_path, "activity", ACTIVITY)
    assert pl.read_ipc_stream(tmp_path / "activity.arrows").columns == names(ACTIVITY)
    stream.close()


WRITE = """
import sys
from pathlib import Path
from assay.probes.streams import ENGINE, Stream
with Stream(Path(sys.argv[1]), "engine", ENGINE) as stream:
    stream.push(1, "a source", "a thing", "a counter", 2.5)
import assay.running.processes.host
from assay.engines.discovery import find_engine
find_engine("postgresql").engine()
print(*({"numpy", "pandas", "pyarrow"} & set(sys.modules)))
"""


def test_writing_imports_no_library_of_tables(tmp_path: Path) -> None:
    """It would cost CPU time and memory beside what is measured."""
    command = [sys.executable, "-c", WRITE, str(tmp_path)]
    assert subprocess.check_output(command, text=True).split() == []
    counters = pl.read_ipc_stream(tmp_path / "engine.arrows")
    assert counters.columns == names(ENGINE)
    assert counters["value"].to_list() == [2.5]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((1, "a source", "a thing", "a counter"), "4 values for 5 columns"),
        ((1, None, "a thing", "a counter", 2.5), "source has no value"),
        ((2**64, "a source", "a thing", "a counter", 2.5), "too large|too big"),
    ],
)
def test_a_row_of_another_form_is_refused(tmp_path: Path, row: tuple, reason: str) -> None:
    with Stream(tmp_path, "engine", ENGINE) as stream:
        with pytest.raises((ValueError, OverflowError), match=reason):
            stream.push(*row)
        stream.push(1, "a source", "a thing", "a counter", 2.5)
    assert pl.read_ipc_stream(tmp_path / "engine.arrows").height == 1


def test_a_stream_that_is_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "engine.arrows").touch()
    with pytest.raises(FileExistsError, match=r"File exists: .*engine\.arrows"):
        Stream(tmp_path, "engine", ENGINE)
