"""SQL is parsed without the parser's warnings, and its errors stay errors."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from assay.model.sql import parsed_script, parsed_statement
from assay.workloads.queries import reads, tables_named

UNKNOWN = "create temporary table wanted (id integer) on commit drop"


def test_a_statement_that_the_parser_does_not_know_is_a_command_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tree,) = parsed_script(UNKNOWN, "postgres")
    assert isinstance(tree, exp.Command)
    assert reads(UNKNOWN, "postgres") is not None
    tables_named(UNKNOWN, "postgres")
    assert caplog.records == []


def test_the_first_statement_of_a_text() -> None:
    assert parsed_statement("select 1; select 2", "postgres").sql() == "SELECT 1"


def test_a_text_that_is_no_sql_is_an_error() -> None:
    with pytest.raises(SqlglotError):
        parsed_script("select from where (", "postgres")
    with pytest.raises(ParseError, match="No expression"):
        parsed_statement("", "postgres")
