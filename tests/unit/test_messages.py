"""The catalogue of messages: texts are read out of the source, and the page is up to date."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from assay.cli.messages.collecting import error_classes, errors, rust_errors, texts_below
from assay.cli.messages.literals import assigned, fixed, text_of
from assay.cli.messages.page import messages_page
from assay.cli.messages.placeholders import readable


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'plain'", "plain"),
        ("f'{path} cannot be read: {error}'", "{path} cannot be read: {error}"),
        ("f'{len(rows)} rows of {run.id}'", "{n} rows of {run.id}"),
        ("f'{bytes_text(size)} of {self._title}'", "{bytes} of {title}"),
        ("f'one of {\", \".join(sorted(names))}'", "one of {names, ...}"),
        ("'a' if first else 'b'", "{a | b}"),
        ('f\'leave {"it" if one else "them"} out\'', "leave {it | them} out"),
        ("'count: ' + str(count)", "count: {count}"),
        ("'took %s s' % seconds", "took %s s"),
        ("reason", "because of {cause}"),
        ("42", None),
        ("other()", None),
    ],
)
def test_a_text_is_read_with_its_placeholders(source: str, text: str | None) -> None:
    names = assigned(ast.parse("reason = f'because of {cause}'"))
    assert text_of(ast.parse(source, mode="eval").body, names) == text


CONSTANTS = "SHORT_S, NAMES = 2.0, ('ca', 'cert')\nTITLE = 'MySQL'"


def test_constants_stand_with_their_values() -> None:
    text = ast.parse("f'{TITLE} needs {SHORT_S} s and {\", \".join(NAMES)}, not {OTHER}'").body[0]
    assert isinstance(text, ast.Expr)
    assert text_of(text.value, fixed(ast.parse(CONSTANTS))) == (
        "MySQL needs 2 s and ca, cert, not {OTHER}"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{folder} is missing{neighbour}", "<folder> is missing <nearest folder name>"),
        ("no {setting.name}; one of {names, ...}", "no <setting name>; one of <names>, ..."),
        ("leave {it | {them}} out", "leave {it | <them>} out"),
        ("{SIZE_MAX} at most", "<largest size> at most"),
        ("{}: {1:?}", "<value>: <second value>"),
        ("write [{verb}]", "write [<verb or section>]"),
    ],
)
def test_a_placeholder_has_words_for_users(text: str, words: str) -> None:
    assert readable(text) == words


@pytest.fixture(scope="module")
def made() -> str:
    """The page as the source makes it."""
    return messages_page()


def test_no_name_of_code_is_left_on_the_page(made: str) -> None:
    assert re.findall(r"<[^>]*_[^>]*>", made) == []


def test_a_name_that_is_assigned_to_itself_ends() -> None:
    names = assigned(ast.parse("text = text + 'more'"))
    assert "more" in (text_of(ast.Name("text"), names) or "")


def test_exit_codes_are_those_of_the_classes() -> None:
    codes = error_classes()
    assert (codes["UsageError"], codes["RunFailedError"], codes["LaunchError"]) == (1, 2, 2)


def test_errors_checks_findings_and_rust_are_read() -> None:
    assert any(message.text.startswith("--json before a command") for message in errors())
    assert any(message.kind == "Refused" for message in rust_errors())
    checks = texts_below("checks", "check")
    assert any("load generator" in message.text for message in checks["checks/client.py"])
    findings = texts_below("analysis/findings", "find")
    assert "analysis/findings/memory/spill.py" in findings


def test_the_page_is_what_the_source_says(made: str) -> None:
    page = Path(__file__).parents[2] / "docs/messages.md"
    assert page.read_text("utf-8") == made, "make messages"
