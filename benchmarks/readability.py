"""Measures how hard the project's texts are to read: sentences, their words, and wide lines.

    .venv/bin/python benchmarks/readability.py                  a table of all texts
    .venv/bin/python benchmarks/readability.py --sample 20      and sentences drawn at random of each
    .venv/bin/python benchmarks/readability.py --files          a line for each page of the documentation

A paragraph, a list item, a heading and a cell of a table end a sentence, whether a full stop does or
not. Code blocks are left out; code within a sentence and a link are as many words as one reads.
Fragments of fewer than three words with letters, such as cells of numbers, are not sentences, and the
commands among the examples of `--help` are code. Lines count as wide in pages and docstrings only:
the terminal folds help and errors.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import random
import re
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.cli.messages import collecting
from assay.cli.shared.verbs import VERBS, command_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "assay"
WORDS_MIN = 3
WORDS_MANY = 25
COLUMNS_MANY = 120
SEED = 7

FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example|Examples|Note):$")
# An entry of such a section: the name, its colon, and what it is.
ENTRY = re.compile(r"^ {4,}\*{0,2}[\w.`, *]+(?:\([^)]*\))?: ")
# A full stop, question or exclamation mark before a space and the beginning of another sentence.
# An abbreviation, a number before it, or a single letter ends none.
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!vs)(?<!\bcf)(?<=[.?!])[\"')*]*\s+(?=[\"'(*]*[A-Z`\d\-{])")
# A word that is read as one; digits, units of one letter and signs are not.
WORD = re.compile(r"[A-Za-z][a-z'-]+|`[^`]+`|\{[^}]+\}|--[a-z-]+")
# Examples in help, which the terminal is told not to wrap.
EXAMPLES = re.compile(r"\x08\n.*?(?:\n\s*\n|\Z)", re.DOTALL)


@dataclass
class Texts:
    """The sentences of one kind of text, and its lines where they are lines that a person sees."""

    name: str
    sentences: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def row(self) -> str:
        word_counts = [len(sentence.split()) for sentence in self.sentences] or [0]
        many = sum(count > WORDS_MANY for count in word_counts) / len(word_counts)
        wide = sum(len(line) > COLUMNS_MANY for line in self.lines) if self.lines else "-"
        return (
            f"{self.name:38} {len(word_counts):9} {statistics.mean(word_counts):6.1f} {statistics.median(word_counts):7.0f}"
            f" {100 * many:7.1f} % {wide:>9}"
        )


HEAD = f"{'text':38} {'sentences':>9} {'mean':>6} {'median':>7} {'over 25':>9} {'wide':>9}"


def sentences(paragraph: str) -> list[str]:
    """Splits a paragraph into sentences; text in backticks stays as it is."""
    held: list[str] = []

    def hold(code: re.Match[str]) -> str:
        held.append(code[0])
        return f"`{len(held) - 1}`"

    text = CODE.sub(hold, " ".join(LINK.sub(r"\1", paragraph).split()))
    parts = [re.sub(r"`(\d+)`", lambda m: held[int(m[1])], part) for part in END.split(text)]
    return [part.strip() for part in parts if len(WORD.findall(part)) >= WORDS_MIN]


def paragraphs(text: str) -> Iterator[str]:
    """Yields paragraphs, items of lists, headings and cells of tables of a Markdown text."""
    block: list[str] = []
    for line in [*COMMENT.sub("", FENCED.sub("", text)).splitlines(), ""]:
        row = line.strip()
        alone = row.startswith(("#", "|"))
        if not row or alone or ITEM.match(line) or SECTION.match(row) or ENTRY.match(line):
            yield " ".join(block)
            block = []
        if row.startswith("|"):
            yield from (cell for cell in re.split(r"(?<!\\)\|", row) if not set(cell) <= set(" -:"))
        elif row.startswith("#"):
            yield row.lstrip("# ")
        elif row and not SECTION.match(row):
            block.append(ITEM.sub("", ENTRY.sub("", line)).strip("> "))
    yield " ".join(block)


def prose_lines(text: str) -> list[str]:
    """The lines of a page that could be broken: no rows of tables, no code, no pictures."""
    return [line for line in FENCED.sub("", text).splitlines() if not line.startswith(("|", "!["))]


def of_pages(name: str, pages: Iterable[Path]) -> Texts:
    texts = Texts(name)
    for page in pages:
        text = page.read_text("utf-8")
        texts.sentences += [part for block in paragraphs(text) for part in sentences(block)]
        texts.lines += prose_lines(text)
    return texts


def of_strings(name: str, strings: Iterable[str]) -> Texts:
    """Makes texts of help, errors or docstrings."""
    texts = Texts(name)
    for string in strings:
        texts.sentences += [part for block in paragraphs(string) for part in sentences(block)]
    return texts


def commands() -> Iterator[Any]:
    """Walks the commands of the terminal and the commands below them."""
    waiting = [command_of(name) for name in VERBS]
    while waiting:
        command = waiting.pop(0)
        yield command
        waiting += getattr(command, "commands", {}).values()


def help_texts() -> Iterator[str]:
    yield from (verb.about for verb in VERBS.values())
    for command in commands():
        yield EXAMPLES.sub("\n", inspect.cleandoc(command.help or ""))
        yield from (
            parameter.help or "" for parameter in command.params if hasattr(parameter, "help")
        )


def errors() -> list[str]:
    return [message.text for message in [*collecting.errors(), *collecting.rust_errors()]]


def claims() -> list[str]:
    folders = (("checks", "check"), ("analysis/findings", "find"))
    return [
        message.text
        for folder, entry in folders
        for messages in collecting.texts_below(folder, entry).values()
        for message in messages
    ]


def docstrings() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""


def of_docstrings() -> Texts:
    texts = of_strings("docstrings", docstrings())
    for path in PACKAGE.rglob("*.py"):
        texts.lines += path.read_text("utf-8").splitlines()
    return texts


def doc_pages() -> list[Path]:
    return [
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
    ]


# Generated of what is measured here beside them: it would count twice.
GENERATED = ("messages.md", "options.md")


def all_texts() -> list[Texts]:
    pages = [page for page in doc_pages() if page.name not in GENERATED]
    return [
        of_pages("README", [ROOT / "README.md"]),
        of_strings("help", help_texts()),
        of_strings("errors", errors()),
        of_strings("checks and findings", claims()),
        of_pages("docs", pages),
        of_docstrings(),
    ]


def draw(texts: Texts, count: int) -> list[str]:
    """Draws sentences of one kind at random, the same ones each time."""
    return random.Random(SEED).sample(texts.sentences, min(count, len(texts.sentences)))  # noqa: S311


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="print N sentences of each"
    )
    parser.add_argument("--files", action="store_true", help="print a line for each page, too")
    options = parser.parse_args()
    measured = all_texts()
    print(HEAD)
    for texts in measured:
        print(texts.row())
    if options.files:
        for page in doc_pages():
            print(of_pages(page.relative_to(ROOT).as_posix(), [page]).row())
    for texts in measured if options.sample else ():
        print(f"\n{texts.name}")
        for sentence in draw(texts, options.sample):
            print(textwrap.fill(sentence, 110, initial_indent="- ", subsequent_indent="  "))


if __name__ == "__main__":
    main()
