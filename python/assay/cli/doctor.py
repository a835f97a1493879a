"""`assay doctor`: what this host allows to be measured, and how to allow more."""

from __future__ import annotations

from assay.cli.options import AsJson
from assay.cli.output import say, say_json


def doctor(*, as_json: AsJson = False) -> None:
    """Tells what can be measured here, what cannot and why, and how to allow more.

    \b
    Examples:
      assay doctor
      assay doctor --json
    """
    from dataclasses import asdict

    from assay.study.abilities import examine
    from assay.study.places import cache_dir, runs_dir

    abilities = examine(runs_dir(None), cache_dir())
    if as_json:
        say_json([asdict(ability) for ability in abilities])
        return
    for ability in abilities:
        mark = {"yes": "yes", "partly": "partly", "no": "NO"}[ability.works]
        say(f"{mark:<8}{ability.name:<22}{ability.seen}")
        if ability.mend:
            say(f"{'':<30}{ability.mend}")
