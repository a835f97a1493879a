"""Reverts host changes of runs that have ended without doing so, and lists those of all runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.running.changes.undo import SUFFIX, Journal, put_back
from assay.running.processes.instance_files import journal_of
from assay.running.server.instances import is_guarded, lives_here, sweep

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Left:
    """The host changes that one run has not reverted.

    Attributes:
        run: Id of the run.
        owner_pid: Process of the run; None if not recorded.
        whose: `live` (the run is active and will revert it), `guarded` (the run is dead and its
            guardian reverts it), or `left`.
        words: Description of the change.
        problems: Reasons why reverting failed, if it was tried.
    """

    run: str
    owner_pid: int | None
    whose: Literal["live", "guarded", "left"]
    words: tuple[str, ...]
    problems: tuple[str, ...] = ()


def changed_now(instances: Path) -> list[Left]:
    """Return all host changes in force by runs with instances below a directory."""
    return [_read_left(path, instances) for path in _journals(instances)]


def restore_left(instances: Path) -> list[Left]:
    """Revert host changes of dead runs; return all changes and those that remain.

    Changes of an active run are not touched.
    """
    before = changed_now(instances)
    # A mount in an instance's directory is removed with the instance, after its processes.
    sweep(instances)
    restored = []
    for left in before:
        path = journal_of(instances / left.run)
        problems: list[str] = []
        if left.whose == "left" and path.exists():
            problems = put_back(path)
        restored.append(Left(left.run, left.owner_pid, left.whose, left.words, tuple(problems)))
    return restored


def _journals(instances: Path) -> list[Path]:
    return sorted(journal_of(instances / "any").parent.glob(f"*{SUFFIX}"))


def _read_left(path: Path, instances: Path) -> Left:
    run = path.name.removesuffix(SUFFIX)
    try:
        journal = Journal.read(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Left(run, None, "left", (f"{path} cannot be read: {error}",))
    owner = journal.owner.get("owner") or {}
    changes = tuple(step.words for step in journal.steps)
    return Left(run, owner.get("pid"), _whose(journal, instances / run), changes)


def _whose(journal: Journal, instance: Path) -> Literal["live", "guarded", "left"]:
    if lives_here(journal.owner):
        return "live"
    return "guarded" if is_guarded(instance) else "left"
