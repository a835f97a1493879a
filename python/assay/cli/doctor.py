"""`assay doctor`: what this host allows to be measured, and what runs have changed on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.output import complain, say, say_json

if TYPE_CHECKING:
    from assay.running.changes.left import Left


def doctor(
    *,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore", help="Put back what runs changed on this host that are dead, and say what."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tells what can be measured here, what cannot and why, and how to allow more.

    What runs have changed on this host at this moment is told, too, with whose it is.

    \b
    Examples:
      assay doctor
      assay doctor --json
      assay doctor --restore     put back what a killed run left, now
    """
    from dataclasses import asdict

    from assay.running.host.abilities import examine
    from assay.running.host.places import cache_dir, runs_dir

    if restore:
        _restore(as_json=as_json)
        return
    abilities = examine(runs_dir(None), cache_dir())
    if as_json:
        say_json([asdict(ability) for ability in abilities])
        return
    for ability in abilities:
        mark = {"yes": "yes", "partly": "partly", "no": "NO"}[ability.works]
        say(f"{mark:<8}{ability.name:<22}{ability.seen}")
        if ability.mend:
            say(f"{'':<30}{ability.mend}")


def _restore(*, as_json: bool) -> None:
    """Puts back what dead runs left; exit code 2 where something could not be."""
    from dataclasses import asdict

    from assay.running.changes.left import restore_left
    from assay.running.host.places import instances_dir

    restored = restore_left(instances_dir())
    if as_json:
        say_json([asdict(left) for left in restored])
    else:
        for left in restored:
            _tell(left)
        if not restored:
            say("no run has changed anything here that is not put back")
    if any(left.problems for left in restored):
        complain("not all of it is put back: see what is said above, mend it, and try again")
        raise typer.Exit(2)


def _tell(left: Left) -> None:
    done = "NOT PUT BACK" if left.problems else "put back"
    if left.whose == "live":
        done = f"left: the run goes on (pid {left.owner_pid}), and puts it back itself"
    elif left.whose == "guarded":
        done = "left: its run is dead, and its guardian is putting it back; look again in a moment"
    say(f"{left.run}: {done}")
    for line in left.words:
        say(f"  {line}")
    for problem in left.problems:
        say(f"  {problem}")
