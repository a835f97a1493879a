"""Terminal output of lists of engines and workloads, and of one engine or workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def listed_lines(about: Mapping[str, str]) -> Iterator[str]:
    """Yield a terminal line for each engine or workload, with its description."""
    room = max(len(name) for name in about) + 2
    for name, text in about.items():
        yield f"{name:<{room}}{text}"


def engine_lines(document: Mapping[str, Any], readme: str) -> Iterator[str]:
    """Yield the lines that `assay engines show` prints.

    Args:
        document: What `--json` prints.
        readme: Description of how the engine is measured; empty without one.
    """
    if readme:
        yield readme
    yield from _techniques(document["techniques"]["techniques"])
    yield from _knobs(document["knobs"]["knobs"])
    yield from _durability(document["durability"])


def workload_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that `assay workloads show` prints about a workload."""
    yield f"{document['title']}: {document['about']}" if document["about"] else document["title"]
    operations = document["operations"]
    width = max(len(name) for name in operations)
    for name, operation in operations.items():
        yield f"  {name:<{width}}  {operation['title']}".rstrip()
    if document["legal"]:
        yield document["legal"]


def part_lines(text: str, parts: Mapping[str, str], workload: str, operation: str) -> Iterator[str]:
    """Yield terminal lines of an operation's SQL and its removable parts.

    Args:
        text: Text of the operation.
        parts: Descriptions of removable parts, by the names that `--remove` accepts.
        workload: Name of the operation's workload.
        operation: Name of the operation.
    """
    yield f"{text.strip()}\n"
    width = max((len(name) for name in parts), default=0)
    for name, description in parts.items():
        yield f"  {name:<{width}}  {description}"
    yield (
        f"assay run {workload} --operation {operation} --remove NAME runs the operation without "
        "the part NAME"
    )


def _techniques(techniques: Mapping[str, Any]) -> Iterator[str]:
    """Yield the planner techniques that `--without` can switch off."""
    if not techniques:
        return
    width = max(map(len, techniques))
    yield "\nTechniques that --without switches off:"
    for name, technique in techniques.items():
        yield f"  {name:<{width}}  {technique['says']}"


def _knobs(knobs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the engine settings that `--vary` accepts by short names."""
    if not knobs:
        return
    about = {f"{name} ({knob['setting']})": knob["about"] for name, knob in knobs.items()}
    width = max(map(len, about))
    yield "\nKnobs that are worth varying (--vary):"
    for name, text in about.items():
        yield f"  {name:<{width}}  {text}"


def _durability(levels: Mapping[str, Any]) -> Iterator[str]:
    """Yield the durability levels that `--durability` accepts."""
    if not levels:
        return
    yield "\nLevels of --durability; the default is full:"
    for name, level in levels.items():
        settings = ", ".join(f"{key} = {value}" for key, value in level["settings"].items())
        behind = f" ({settings})" if level["about"] and settings else ""
        yield f"  {name:<8}  {level['about'] or settings}{behind}"
