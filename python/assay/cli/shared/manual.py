"""Writes the manual pages from the declared commands: `man assay`, `man assay-run`.

`python -m assay.cli.shared.manual FOLDER` writes one page for each command. A page has the parts of
`assay COMMAND --help`, because Typer's own methods write it with another formatter.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.main import app
from assay.cli.shared.verbs import VERBS
from assay.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROGRAM = "assay"
# Mark of a paragraph that Typer does not wrap, such as examples.
AS_IS = "\b\n"
# Characters that troff reads as a command or replaces by typographic ones.
SIGNS = {
    "\\": "\\e",
    "-": "\\-",
    '"': "\\(dq",
    "'": "\\(aq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
}
TITLE = re.compile(r"([A-Z][a-z ]+):")


class Page:
    """A formatter for Typer's help that writes a manual page.

    Attributes:
        width: Width of a line; it is large, because the reader's terminal breaks lines.
    """

    width = 10_000

    def __init__(self, name: str, about: str) -> None:
        self._lines = [
            f'.TH {name.upper()} 1 "" "{PROGRAM} {VERSION}"',
            ".SH NAME",
            f"{quoted(name)} \\- {quoted(about)}",
            ".SH SYNOPSIS",
        ]

    def text(self) -> str:
        """Return the text of the page."""
        return "\n".join(self._lines) + "\n"

    def write_heading(self, heading: str) -> None:
        """Begin a section."""
        self._lines.append(f'.SH "{quoted(heading.upper())}"')

    def write_usage(self, program: str, arguments: str = "", _prefix: str | None = None) -> None:
        """Write the line on how a command is typed."""
        self._lines += [f".B {quoted(program)}", quoted(arguments)]
        self.write_heading("Description")

    def write_paragraph(self) -> None:
        """Begin a paragraph, unless one has just begun."""
        if not self._lines[-1].startswith((".PP", ".SH")):
            self._lines.append(".PP")

    def write_text(self, text: str) -> None:
        """Write the paragraphs of a text.

        A paragraph that Typer does not wrap keeps its lines; its title is bold.
        """
        for paragraph in text.split("\n\n"):
            self.write_paragraph()
            if paragraph.startswith(AS_IS):
                self._write_lines(paragraph.removeprefix(AS_IS).splitlines())
            else:
                self._lines.append(quoted(" ".join(paragraph.split())))

    def write_dl(self, rows: Iterable[tuple[str, str]]) -> None:
        """Write options or commands, each with its description."""
        for term, meaning in rows:
            self._lines += [".TP", f".B {quoted(term)}", quoted(meaning)]

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        """Write the content of a section under a heading."""
        self.write_heading(title)
        yield

    @contextmanager
    def indentation(self) -> Iterator[None]:
        """Write the block's content without indentation, because manual pages indent sections."""
        yield

    def _write_lines(self, lines: list[str]) -> None:
        self._lines.append(".nf")
        for line in lines:
            is_title = TITLE.fullmatch(line)
            self._lines.append(f".B {quoted(line)}" if is_title else quoted(line))
        self._lines.append(".fi")


def quoted(text: str) -> str:
    """Return a text that troff prints unchanged: no escapes, no requests, ASCII characters."""
    text = "".join(SIGNS.get(letter, letter) for letter in text)
    return f"\\&{text}" if text.startswith(".") else text


def pages() -> dict[str, str]:
    """Return all manual pages by their names, such as `assay-run`."""
    command: Any = typer.main.get_command(app)
    top = typer.Context(command, info_name=PROGRAM, **app.info.context_settings or {})
    made = {PROGRAM: _overview(top)}
    for name, verb in VERBS.items():
        page = Page(f"{PROGRAM}-{name}", verb.about)
        _write_command(page, _below(top, name))
        _see_also(page, [PROGRAM])
        made[f"{PROGRAM}-{name}"] = page.text()
    return made


def _overview(top: Any) -> str:  # noqa: ANN401 - Typer's own
    page = Page(PROGRAM, top.command.help.rstrip("."))
    _write_parts(page, top)
    _see_also(page, [f"{PROGRAM}-{name}" for name in VERBS])
    return page.text()


def _write_command(page: Page, context: Any) -> None:  # noqa: ANN401
    """Write a command, followed by its subcommands."""
    _write_parts(page, context)
    for name in getattr(context.command, "commands", {}):
        below = _below(context, name)
        page.write_heading(below.command_path)
        _write_parts(page, below)


def _write_parts(page: Any, context: Any) -> None:  # noqa: ANN401
    command = context.command
    command.format_usage(context, page)
    command.format_help_text(context, page)
    command.format_options(context, page)
    command.format_epilog(context, page)


def _below(context: Any, name: str) -> Any:  # noqa: ANN401
    command = context.command.get_command(context, name)
    return typer.Context(command, info_name=name, parent=context, **command.context_settings)


def _see_also(page: Page, names: list[str]) -> None:
    page.write_heading("See also")
    page.write_text(", ".join(f"{name}(1)" for name in names))


def write_pages(folder: Path) -> None:
    """Write all manual pages into a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
