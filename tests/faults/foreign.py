"""Foreign text for fuzzing: what engines and people write, with pieces of it changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

NATIVE = Path(__file__).parents[1] / "native_plans"
SPARK = Path(__file__).parents[1] / "unit/data/spark"
# As `assay plans` stores them: SQLite's own lines, and what was asked beside them.
SQLITE = (
    json.dumps(
        {
            "plan": [
                {"id": 3, "parent": 0, "detail": "SCAN o"},
                {"id": 5, "parent": 0, "detail": "SEARCH c USING INDEX c_i (a=? AND b>?)"},
                {"id": 9, "parent": 0, "detail": "CORRELATED SCALAR SUBQUERY 2"},
                {"id": 12, "parent": 9, "detail": "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)"},
                {"id": 20, "parent": 0, "detail": "USE TEMP B-TREE FOR GROUP BY"},
                {"id": 22, "parent": 0, "detail": "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"},
            ],
            "aliases": {"o": "orders", "c": "customer", "l": "lineitem"},
            "counted": {"fullscan_step": 99, "sort": 1, "vm_step": 2000},
            "execution_s": 0.25,
            "changes": None,
            "columns": {"orders": ["i", "c"]},
            "scans": [],
        }
    ),
    json.dumps(
        {
            "plan": [
                {"id": 1, "parent": 0, "detail": "COMPOUND QUERY"},
                {"id": 2, "parent": 1, "detail": "LEFT-MOST SUBQUERY"},
                {"id": 4, "parent": 2, "detail": "SCAN t USING COVERING INDEX t_a"},
                {"id": 7, "parent": 1, "detail": "UNION ALL"},
                {"id": 8, "parent": 7, "detail": "MULTI-INDEX OR"},
                {"id": 9, "parent": 8, "detail": "INDEX 1"},
            ],
            "aliases": {},
            "changes": {"how": "update", "table": "t"},
        }
    ),
)
# Values that stand where something else is expected.
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just({"Plans": [{}]}),
)


@cache
def samples(engine: str) -> tuple[str, ...]:
    """Return plans that an engine told, the short ones of them."""
    if engine == "sqlite":
        return SQLITE
    folder = SPARK if engine == "spark" else NATIVE / engine
    texts = (path.read_text("utf-8") for path in sorted(folder.glob("*.*")))
    return tuple(sorted(texts, key=len)[:8])


@st.composite
def changed_texts(draw: st.DrawFn, whole: tuple[str, ...]) -> str:
    """Draw one of the texts with some pieces of it cut out, repeated, moved or replaced."""
    text = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(("", text[begin:end] * 2, "\0", '"', "[", "}", "é", "-1")))
        text = text[:begin] + piece + text[end:]
    return text


@st.composite
def changed_documents(draw: st.DrawFn, whole: tuple[str, ...]) -> str:
    """Draw one of the JSON documents with some values of it replaced or left out."""
    document = json.loads(draw(st.sampled_from(whole)))
    for _ in range(draw(st.integers(1, 3))):
        document = _changed(draw, document)
    return json.dumps(document)


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Return a value with one of the values in it changed."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(STRANGE)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    changed: Any = value.copy()
    if draw(st.integers(0, 5)) == 0:
        del changed[key]
    else:
        changed[key] = _changed(draw, value[key])
    return changed


def refused_only_by(read: Callable[[str], object], text: str, *errors: type[Exception]) -> None:
    """Read a text, which may be refused with one of these errors and with no other."""
    with suppress(*errors):
        read(text)
