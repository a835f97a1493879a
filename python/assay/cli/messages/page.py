"""Generates the page that lists every message of Assay from the source."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

from assay.cli.messages import collecting
from assay.cli.messages.placeholders import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.cli.messages.collecting import Message

HEAD = """\
# Messages

This page lists every error, warning, check and finding that Assay prints. Search it for words of
the message that you saw. Words in angle brackets stand for a value, such as `<path>`. Three dots
after such words stand for a list of values. Braces contain alternatives, separated by bars.

Errors and warnings go to stderr and begin with `assay:`. `exit 1` behind an error is the exit code
of the command that ended with this error. `make messages` generates this page from the source code.

[How numbers are made](numbers/index.md) explains checks and findings. The [glossary](glossary.md)
explains the terms.
"""
# Headings of the page, each with the folders of its messages. A message is listed under the first
# match.
GROUPS = (
    (
        "Command line and options",
        "Errors before a measurement starts.",
        ("cli", "verbs", "running/asked"),
    ),
    (
        "Studies, sweeps and comparisons",
        "Errors in a study's file, or in a command that makes several runs.",
        ("study",),
    ),
    ("Engines", "Errors while Assay installs, starts or connects to an engine.", ("engines",)),
    ("Workloads", "Errors in a workload's folder, or in your own queries.", ("workloads",)),
    (
        "During a run",
        "Errors while data are loaded, or while operations are executed.",
        ("running", "probes"),
    ),
    (
        "Records and reports",
        "Errors while Assay reads the record of a run.",
        ("record", "report", "analysis", "checks"),
    ),
    ("Everywhere", "Errors in values and units that several commands accept.", ("",)),
)
MULTIPLE = 2


def messages_page() -> str:
    """Return the page, in Markdown."""
    return "\n".join([HEAD, *_errors(), *_warnings(), *_driver(), *_checks(), *_findings()])


def _errors() -> Iterator[str]:
    yield "## Errors\n"
    left = collecting.errors()
    kinds = collecting.error_classes()
    for title, about, folders in GROUPS:
        here = [message for message in left if _is_below(message.module, folders)]
        left = [message for message in left if message not in here]
        yield f"### {title}\n\n{about}\n"
        for folder, messages in groupby(here, key=lambda message: _folder(message.module)):
            yield f"`{folder}`:\n"
            yield from _items(_once(messages), lambda message: f"exit {kinds[message.kind]}")
            yield ""


def _warnings() -> Iterator[str]:
    yield "## Warnings\n\nA run continues after a warning, and stores it in its file `assay.log`.\n"
    yield from _items(_once(collecting.warnings()))
    yield ""


def _driver() -> Iterator[str]:
    about = "Messages of the compiled part of Assay, which opens sessions and takes samples."
    yield f"## Errors of the driver and the probes\n\n{about}\n"
    for crate, messages in groupby(
        collecting.rust_errors(), key=lambda message: message.module.partition("/")[0]
    ):
        yield f"`{crate}`:\n"
        yield from _items(_once(messages))
        yield ""


def _checks() -> Iterator[str]:
    about = "The verdict of a check is valid, unknown or invalid, with one of these reasons."
    yield f"## Checks\n\n{about}\n"
    yield from _by_module("checks", "check")


def _findings() -> Iterator[str]:
    yield "## Findings\n\nClaims, evidence and advice of each finding, by the finding's name.\n"
    yield from _by_module("analysis/findings", "find")


def _by_module(folder: str, entry: str) -> Iterator[str]:
    for module, messages in collecting.texts_below(folder, entry).items():
        name = module.rpartition("/")[2].removesuffix(".py").replace("_", "-")
        room = " of observed servers" if "/observed/" in module else ""
        room = " of a ceiling" if "/ceiling/" in module else room
        yield f"### {name}{room}\n"
        yield from _items(_once(messages))
        yield ""


def _once(messages: Iterable[Message]) -> list[Message]:
    return list({message.text: message for message in messages}.values())


def _items(messages: Iterable[Message], note: object = None) -> Iterator[str]:
    for message in messages:
        text = " ".join(readable(message.text).split()).replace("`", "'")
        said = f" ({note(message)})" if callable(note) else ""
        yield f"- `{text}`{said}"


def _is_below(module: str, folders: tuple[str, ...]) -> bool:
    return any(not folder or module.startswith(f"{folder}/") for folder in folders)


def _folder(module: str) -> str:
    return "/".join(module.split("/")[:MULTIPLE] if module.count("/") >= MULTIPLE else [module])


if __name__ == "__main__":
    sys.stdout.write(messages_page())
