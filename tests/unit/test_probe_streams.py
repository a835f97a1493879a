"""What probes of this language write is what readers find, whatever is null."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path

import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assay.probes.streams import ACTIVITY, ENGINE, Stream

WORDS = st.none() | st.text(max_size=4)
ROWS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 2**32 - 1),
        st.text(max_size=4),
        st.none() | st.integers(0, 2**32 - 1),
        *[WORDS] * 4,
        *[st.none() | st.integers(0, 2**32 - 1)] * 2,
    ),
    max_size=20,
)


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
    assert pl.read_ipc_stream(tmp_path / "activity.arrows").columns == ACTIVITY.names
    stream.close()


WRITE = """
import sys
from pathlib import Path
from assay.probes.streams import ENGINE, Stream
with Stream(Path(sys.argv[1]), "engine", ENGINE) as stream:
    stream.push(1, "a source", "a thing", "a counter", 2.5)
"""


def test_writing_imports_no_pandas(tmp_path: Path) -> None:
    """It would cost a second of CPU time beside what is measured."""
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas was imported')")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}){WRITE}"
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    counters = pl.read_ipc_stream(tmp_path / "engine.arrows")
    assert counters.columns == ENGINE.names
    assert counters["value"].to_list() == [2.5]
