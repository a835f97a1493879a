"""Generates the page that lists every message of Assay from the source."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

from assay.cli.messages import collecting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.cli.messages.collecting import Message

PAGE = "messages.md"
HEAD = """\
# Messages

Every error, warning, check and finding that Assay prints. Search this page for the words you saw.
A name in braces stands for a value, such as `{path}`; a bar separates alternatives; `...` is a list
or a longer text. Errors and warnings go to stderr and begin with `assay:`. The exit code is that of
the command. `make messages` writes this page from the source.

What checks mean for a run, and how findings are made: [how numbers are made](numbers/index.md).
What the nouns mean: [glossary](glossary.md).
"""
# Headings of the page, each with the folders of its messages. A message is listed under the first
# match.
GROUPS = (
    ("Command line and options", "Before anything is measured.", ("cli", "verbs", "running/asked")),
    ("Studies, sweeps and comparisons", "In a study's file or a verb of several runs.", ("study",)),
    ("Engines", "While an engine is installed, started or connected to.", ("engines",)),
    ("Workloads", "In a workload's folder, or in queries of your own.", ("workloads",)),
    ("During a run", "While data are loaded, or while the load runs.", ("running", "probes")),
    (
        "Records and reports",
        "While a run is read again.",
        ("record", "report", "analysis", "checks"),
    ),
    ("Everywhere", "Values and units that several commands read.", ("",)),
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
    yield "## Warnings\n\nThe run goes on; its record keeps the warning in `log.txt`.\n"
    yield from _items(_once(collecting.warnings()))
    yield ""


def _driver() -> Iterator[str]:
    yield "## Errors of the driver and the probes\n\nThe compiled part: sessions and samplers.\n"
    for crate, messages in groupby(
        collecting.rust_errors(), key=lambda message: message.module.partition("/")[0]
    ):
        yield f"`{crate}`:\n"
        yield from _items(_once(messages))
        yield ""


def _checks() -> Iterator[str]:
    yield "## Checks\n\nA check says valid, unknown or invalid, with one of these reasons.\n"
    yield from _by_module("checks", "check")


def _findings() -> Iterator[str]:
    yield "## Findings\n\nClaims, evidence and advice, by the finding's key.\n"
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
        text = " ".join(message.text.split()).replace("`", "'")
        said = f" ({note(message)})" if callable(note) else ""
        yield f"- `{text}`{said}"


def _is_below(module: str, folders: tuple[str, ...]) -> bool:
    return any(not folder or module.startswith(f"{folder}/") for folder in folders)


def _folder(module: str) -> str:
    return "/".join(module.split("/")[:MULTIPLE] if module.count("/") >= MULTIPLE else [module])


if __name__ == "__main__":
    sys.stdout.write(messages_page())
