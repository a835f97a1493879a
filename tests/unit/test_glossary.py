"""One word for one thing: the glossary's words are used, its retired ones are not."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from assay.cli.messages import collecting
from assay.cli.shared.verbs import VERBS, command_of

DOCS = Path(__file__).parents[2] / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text("utf-8")
WORD = re.compile(r"^\| \*\*([^*]+)\*\* \| (.+) \|$", re.MULTILINE)
RETIRED = re.compile(r"^\| ([^|*]+) \| ([^|]+) \|$", re.MULTILINE)
WORDS_MAX = 30


def retired() -> list[str]:
    section = GLOSSARY.partition("## Retired words")[2]
    return [row[1].strip() for row in RETIRED.finditer(section) if row[1] not in ("not", "---")]


def help_texts() -> list[str]:
    waiting, texts = [command_of(name) for name in VERBS], [verb.about for verb in VERBS.values()]
    while waiting:
        command = waiting.pop()
        texts.append(inspect.cleandoc(command.help or ""))
        texts += [getattr(parameter, "help", None) or "" for parameter in command.params]
        waiting += getattr(command, "commands", {}).values()
    return texts


@pytest.fixture(scope="module")
def visible() -> list[str]:
    """Every text of the terminal: help, errors, warnings, checks, findings."""
    found = [*collecting.errors(), *collecting.warnings(), *collecting.rust_errors()]
    for folder, entry in (("checks", "check"), ("analysis/findings", "find")):
        for messages in collecting.texts_below(folder, entry).values():
            found += messages
    return [*help_texts(), *(message.text for message in found)]


def uses(word: str, texts: list[str]) -> list[str]:
    pattern = re.compile(rf"(?<![{{\w]){re.escape(word)}(?![}}\w])", re.IGNORECASE)
    return [text for text in texts if pattern.search(" ".join(text.split()))]


@pytest.mark.parametrize("word", retired())
def test_a_retired_word_is_not_used(word: str, visible: list[str]) -> None:
    assert uses(word, visible) == []


def test_each_word_is_there_once_and_short() -> None:
    words = [row[1] for row in WORD.finditer(GLOSSARY)]
    assert len(words) == len(set(words)) >= 40
    long = {
        row[1]: sentence
        for row in WORD.finditer(GLOSSARY)
        for sentence in re.split(r"(?<=\.) ", row[2])
        if len(sentence.split()) > WORDS_MAX
    }
    assert long == {}


def test_each_word_is_used(visible: list[str]) -> None:
    pages = [page.read_text("utf-8") for page in DOCS.rglob("*.md") if page.name != "glossary.md"]
    unused = [row[1] for row in WORD.finditer(GLOSSARY) if not uses(row[1], [*visible, *pages])]
    assert unused == []


def test_a_retired_word_would_be_found() -> None:
    assert uses("tells", ["The engine\ntells it.", "{tells}", "foretells"]) == [
        "The engine\ntells it."
    ]
