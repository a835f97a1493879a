"""Commands that pages of the documentation tell to type: in fenced blocks and in tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
RUN = "<!-- run -->\n"
# Variables of the environment may stand before it, and a prompt.
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?assay (?!\S+ ─)(.*)$")
# What stands behind it: a comment, words in a column of their own, another command, an output.
BEHIND = re.compile(r"\s+#.*$|\s{2,}\S.*$|\s+[|>&].*$|\s*;.*$")
# A part that may be left out: `[--rate 500]`.
MAY_BE_LEFT_OUT = re.compile(r"\[(--[^\]]*)\]")


# A whole command in the cell of a table, not only the name of one.
IN_TABLE = re.compile(r"`(assay \w+ [^`]* [^`]+)`")


@dataclass(frozen=True)
class Command:
    """One command of a page.

    Attributes:
        page: Path of the page in the repository.
        words: What follows `assay`.
        run: Whether the page says that a test carries it out.
    """

    page: str
    words: tuple[str, ...]
    run: bool

    def __str__(self) -> str:
        return f"{self.page}: assay {shlex.join(self.words)}"


def pages() -> list[Path]:
    """Return all pages of the documentation: README, docs, and READMEs beside the code."""
    package = ROOT / "python" / "assay"
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(package.rglob("README.md")),
        ROOT / "tests" / "planted" / "README.md",
    ]


def commands_of(page: Path) -> list[Command]:
    """Return the commands in the fenced blocks and tables of a page."""
    text = page.read_text("utf-8")
    name = page.relative_to(ROOT).as_posix()
    rows = [line for line in FENCE.sub("", text).splitlines() if line.startswith("|")]
    in_tables = [
        Command(name, tuple(words), run=False)
        for row in rows
        for said in IN_TABLE.findall(row)
        for words in _words(said)
    ]
    return in_tables + [
        Command(name, tuple(words), text[: block.start()].endswith(RUN))
        for block in FENCE.finditer(text)
        for line in block[3].replace("\\\n", " ").splitlines()
        for words in _words(line)
    ]


def _words(line: str) -> list[list[str]]:
    """Return the words of the commands in a line: `assay a | assay b` are two."""
    joined = re.sub(r"^(\s*(?:\$ )?)", "", line)
    found = []
    for part in re.split(r" [|] (?=assay )", joined):
        match = COMMAND.match(re.sub(r"^\$ ", "", part))
        if match:
            said = MAY_BE_LEFT_OUT.sub(r"\1", re.sub(r" {2,}(?=--)", " ", match[1]))
            found.append(shlex.split(BEHIND.sub("", said)))
    return found
