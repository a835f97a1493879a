"""Terminal output of `assay doctor`: what can be measured on this host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MARKS = {"yes": "yes", "partly": "partly", "no": "NO"}


def ability_lines(abilities: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a terminal line for each kind of measurement: whether it works, and the remedy."""
    for ability in abilities:
        yield f"{MARKS[ability['works']]:<8}{ability['name']:<23}{ability['seen']}"
        if ability["mend"]:
            yield f"{'':<31}{ability['mend']}"


def restored_lines(restored: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the host changes that each run left, and whether they were reverted."""
    for left in restored:
        yield f"{left['run']}: {_done(left)}"
        for line in (*left["words"], *left["problems"]):
            yield f"  {line}"
    if not restored:
        yield "all changes that runs made on this host are reverted"


def _done(left: Mapping[str, Any]) -> str:
    if left["whose"] == "live":
        return (
            f"left: the run is still active (pid {left['owner_pid']}) and will revert the "
            "change itself"
        )
    if left["whose"] == "guarded":
        return (
            "left: the run was killed, and its guardian process is reverting the change; check "
            "again in a moment"
        )
    return "NOT PUT BACK" if left["problems"] else "put back"
