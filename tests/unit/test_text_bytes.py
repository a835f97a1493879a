"""Texts of a batch as the bytes that they are in memory."""

from __future__ import annotations

import pyarrow as pa
import pytest

from assay.engines.feeding import text_bytes

LINES = ["<a> <b> <c> .\n", "", "<a> <b> 'é' .\n"]


def batch(*columns: pa.Array) -> pa.RecordBatch:
    return pa.record_batch(list(columns), names=[str(place) for place in range(len(columns))])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_stand_one_after_another(kind: pa.DataType) -> None:
    whole = batch(pa.array(LINES, kind))
    assert bytes(text_bytes(whole)) == "".join(LINES).encode()
    assert bytes(text_bytes(whole.slice(1, 2))) == "".join(LINES[1:]).encode()
    assert bytes(text_bytes(whole.slice(3))) == b""
    assert bytes(text_bytes(batch(pa.array([], kind)))) == b""


def test_other_columns_are_refused() -> None:
    for columns in ((pa.array([1]),), (pa.array(LINES), pa.array(LINES)), ()):
        with pytest.raises(ValueError, match="a single text column was expected"):
            text_bytes(batch(*columns))
