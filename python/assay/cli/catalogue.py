"""`assay engines`, `assay workloads`, `assay --version`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.output import say, say_json


def engines(
    name: Annotated[str | None, typer.Argument(help="Tell all of one engine.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Lists the engines; with a name, what is known of one.

    \b
    Examples:
      assay engines
      assay engines duckdb
    """
    from assay.engines.discovery import find_engine, find_engines

    if name is not None:
        folder = find_engine(name)
        facts = folder.facts.model_dump() | {"folder": str(folder.folder)}
        if as_json:
            say_json(facts)
            return
        say((folder.folder / "README.md").read_text(encoding="utf-8").rstrip())
        return
    found = find_engines()
    if as_json:
        say_json([folder.facts.model_dump() for folder in found.values()])
        return
    for folder in found.values():
        say(f"{folder.facts.name:<14}{folder.facts.about}")


def workloads(
    name: Annotated[str | None, typer.Argument(help="Tell all of one workload.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Lists the workloads; with a name, its operations.

    \b
    Examples:
      assay workloads
      assay workloads tpch
    """
    from assay.workloads.discovery import find_workload, find_workloads

    if name is None:
        found = find_workloads()
        if as_json:
            say_json([{"name": w.facts.name, "about": w.facts.about} for w in found.values()])
            return
        for workload in found.values():
            say(f"{workload.facts.name:<14}{workload.facts.about}")
        return
    facts = find_workload(name).facts
    if as_json:
        say_json(facts.model_dump())
        return
    say(f"{facts.title}: {facts.about}")
    for operation, told in facts.operations.items():
        say(f"  {operation:<8}{told.title}")
    if facts.legal:
        say(facts.legal)


def version(*, as_json: bool) -> None:
    """Our version, with JSON also those of the engines' adapters."""
    import assay

    if not as_json:
        say(f"assay {assay.__version__}")
        return
    from assay.engines.discovery import find_engines

    adapters = {name: folder.facts.version_pinned for name, folder in find_engines().items()}
    say_json({"assay": assay.__version__, "engines": adapters})
