"""Texts of statements that others sent: names, keys, and what of them is constant."""

from __future__ import annotations

import pytest

from assay.model.watched import (
    canonical,
    fingerprint,
    says_something,
    statement_name,
    statement_names,
    without_constants,
    without_open_text,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("UPDATE public.accounts SET x = $1", "update-accounts"),
        ("update only accounts set x = 1", "update-accounts"),
        ("insert into `shop`.`orders` values (?)", "insert-orders"),
        ('INSERT INTO "Big Table"(a) VALUES ($1)', "insert-Big"),
        ("select a from b join c on true", "select-b"),
        ("select extract(epoch from now()) from visits", "select-visits"),
        ("/* shop */ delete from visits where id = 3", "delete-visits"),
        ("-- why\nselect 1", "select"),
        ("COMMIT", "commit"),
        ("with x as (select 1) select * from x", "with-x"),
        ("truncate table t", "truncate-t"),
        ("", "statement"),
    ],
)
def test_a_name_says_verb_and_table(text: str, name: str) -> None:
    assert statement_name(text) == name


@pytest.mark.parametrize(
    ("text", "is_statement"),
    [("commit", True), ("/* a */ select 1", True), ("", False), ("/* a */ ", False), (None, False)],
)
def test_what_holds_no_word_is_no_statement(text: str | None, is_statement: bool) -> None:
    assert says_something(text) == is_statement


def test_names_of_statements_alike_are_numbered() -> None:
    texts = {"1": "select a from t", "2": "select b from t", "3": "commit"}
    assert statement_names(texts) == {"1": "select-t", "2": "select-t-2", "3": "commit"}


def test_constants_are_taken_out() -> None:
    text = "select 'it''s', -3, 1.5e3 from t2 where a in (1, 2, 3) -- why\n and b = $1;"
    assert without_constants(text) == "select ?, ?, ? from t2 where a in (?, ...) and b = $1"


def test_a_servers_own_form_is_the_same_statement() -> None:
    sent = "update accounts set balance = balance + -12 where id = 7 and note is null"
    of_postgresql = "UPDATE accounts SET balance = balance + $1 WHERE id = $2 AND note IS NULL"
    of_mysql = "UPDATE `accounts` SET `balance` = `balance` + ? WHERE `id` = ? AND `note` IS NULL "
    assert canonical(sent) == canonical(of_postgresql) == canonical(of_mysql)
    assert canonical("select database()") == canonical("SELECT SCHEMA ( )")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "select a from t where b = 'it\\'s' and c = 'cut o",
            "select a from t where b = 'it\\'s' and c = ",
        ),
        ('select "x" from t where b = "it\'s', 'select "x" from t where b = '),
        ("-- the shop's own\nselect 'a', 'b", "select 'a', "),
        ("select 'it''s' from t", "select 'it''s' from t"),
    ],
)
def test_a_truncated_statement_loses_the_constant_without_an_end(text: str, kept: str) -> None:
    assert without_open_text(text).lstrip() == kept


def test_tables_that_differ_by_a_number_are_different() -> None:
    assert canonical("select a from orders_2024") != canonical("select a from orders_2025")


def test_a_fingerprint_is_of_letters_alone() -> None:
    assert fingerprint("select extract(epoch from x), 5 from t") == fingerprint(
        "-- why\nselect\n  extract($1 from x), $2 from t"
    )
