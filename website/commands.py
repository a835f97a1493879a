"""A page for each command: what its `--help` says, as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.main import app
from assay.cli.shared.verbs import VERBS, command_of
from assay.running.asked.declaring import Group
from markdown_pieces import code, table

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = ("Arguments", "Options", *Group)
HEAD = """\
# Commands

Every command has this page's text as `assay COMMAND --help`. Exit codes are the same for all
commands: 0 done, 1 wrong usage, 2 failed or stopped, 3 invalid. With `--strict` an unknown verdict
also ends with 3. `assay tune` ends with 5 if no setting is better beyond noise.
"""


def command_pages() -> dict[str, str]:
    """Return the page of each command, and the list of them, by place on the site."""
    pages = {f"reference/cli/{verb}.md": _command_page(verb) for verb in VERBS}
    return {"reference/cli/index.md": _list_page(), **pages}


def _list_page() -> str:
    sections: dict[str, list[tuple[str, str]]] = {}
    for name, verb in VERBS.items():
        row = (f"[`assay {name}`]({name}.md)", verb.about)
        sections.setdefault(verb.section, []).append(row)
    tables = [
        f"## {title}\n\n{table(['command', 'what it does'], rows)}"
        for title, rows in sections.items()
    ]
    return "\n".join([HEAD, *tables])


def _command_page(verb: str) -> str:
    context = typer.Context(command_of(verb), info_name=f"assay {verb}", parent=_parent())
    command: Any = context.command
    pieces = [f"# assay {verb}\n", *_parts(command.help or ""), *_options(command, context)]
    for name, below in getattr(command, "commands", {}).items():
        inner = typer.Context(below, info_name=name, parent=context)
        pieces += [f"## assay {verb} {name}\n", *_parts(below.help or "")]
        pieces += _options(below, inner)
    return "\n".join(pieces)


def _parent() -> Any:  # noqa: ANN401 - Typer's own
    return typer.Context(typer.main.get_command(app), info_name="assay")


def _parts(text: str) -> Iterator[str]:
    """Yields paragraphs of help; what is to keep its lines stands in a fence."""
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.removeprefix("\b").strip("\n").splitlines()
        if not block.startswith("\b"):
            yield " ".join(line.strip() for line in lines) + "\n"
        elif len(lines) > 1:
            yield f"**{lines[0].rstrip(':')}**\n\n```\n" + "\n".join(map(_dedent, lines[1:]))
            yield "```\n"
        else:
            yield lines[0] + "\n"


def _dedent(line: str) -> str:
    return line.removeprefix("  ")


def _options(command: Any, context: typer.Context) -> Iterator[str]:  # noqa: ANN401
    """Yields a table of each group of options."""
    records = getattr(command, "_records", None)
    found = records(context) if records else _plain_records(command, context)
    groups: dict[str, list[tuple[str, str]]] = {}
    for title, record in found:
        groups.setdefault(title, []).append(record)
    for title, rows in sorted(groups.items(), key=lambda group: ORDER.index(group[0])):
        yield f"### {title}\n" if getattr(context.parent, "parent", None) else f"## {title}\n"
        yield table(["option", "meaning"], [(code(name), about) for name, about in sorted(rows)])


def _plain_records(command: Any, context: typer.Context) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record:
            title = "Arguments" if parameter.param_type_name == "argument" else "Options"
            yield title, record
