"""What is written as TOML is read as it was. Oracle: the standard library's reader."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.record.toml_text import toml_text

LETTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.one_of(st.text(LETTERS), st.text(st.sampled_from("'\"\\\n\r\t\x7f a#$[]")))
# What goes wrong with three values beside each other goes wrong with any number.
WIDTH_MAX = 3
PLAIN = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXTS
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(PLAIN, max_size=WIDTH_MAX), st.dictionaries(TEXTS, inner, max_size=WIDTH_MAX)
    ),
    max_leaves=6,
)
TABLES = st.dictionaries(TEXTS, VALUES, max_size=WIDTH_MAX)
DOCUMENTS = st.dictionaries(
    TEXTS, st.one_of(VALUES, st.lists(TABLES, min_size=1, max_size=WIDTH_MAX)), max_size=WIDTH_MAX
)


@given(DOCUMENTS)
def test_it_is_read_as_it_was_written(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(document, "A word\non it.")) == document


def test_absent_values_are_left_out() -> None:
    assert tomllib.loads(toml_text({"a": None, "b": {"c": None, "d": 1}})) == {"b": {"d": 1}}


def test_sql_stands_as_in_its_file() -> None:
    text = toml_text({"prepare": {"my file.sql": "create index\n  on t (a);\n"}}, "Why?")
    assert text == ('# Why?\n\n[prepare]\n"my file.sql" = """\ncreate index\n  on t (a);\n"""\n')


def test_what_has_no_place_in_it_is_refused() -> None:
    with pytest.raises(TypeError, match="not TOML serializable"):
        toml_text({"a": object()})
