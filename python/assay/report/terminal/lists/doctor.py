"""Terminal output of `assay doctor`: measurable data on this host, and reverted changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MARKS = {"yes": "yes", "partly": "partly", "no": "NO"}


def ability_lines(abilities: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each ability with its state and observation, and its remedy below."""
    for ability in abilities:
        yield f"{MARKS[ability['works']]:<8}{ability['name']:<23}{ability['seen']}"
        if ability["mend"]:
            yield f"{'':<31}{ability['mend']}"


def restored_lines(restored: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the changes of each run, and whether they were reverted."""
    for left in restored:
        yield f"{left['run']}: {_done(left)}"
        for line in (*left["words"], *left["problems"]):
            yield f"  {line}"
    if not restored:
        yield "no run has changed anything here that is not put back"


def _done(left: Mapping[str, Any]) -> str:
    if left["whose"] == "live":
        return f"left: the run goes on (pid {left['owner_pid']}), and puts it back itself"
    if left["whose"] == "guarded":
        return "left: its run is dead, and its guardian is putting it back; look again in a moment"
    return "NOT PUT BACK" if left["problems"] else "put back"
