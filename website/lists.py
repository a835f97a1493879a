"""Pages that list what is found in the code: engines, workloads, findings, checks."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.analysis.findings.discovery import methods
from assay.checks.judge import FOLDERS, find_checks
from assay.engines.discovery import find_engines
from assay.workloads.discovery import find_workloads
from markdown_pieces import code, first_sentence, table

OBTAINED = "`assay engines install NAME` obtains one beforehand; a run obtains what is missing.\n"


def engines_page() -> str:
    """Return the page of engines, from their manifests."""
    rows = []
    for name, folder in sorted(find_engines().items()):
        facts = folder.facts
        versions = ", ".join(product.version for product in facts.products)
        page = f"[`{name}`](../engines/{name}.md)"
        rows.append((page, facts.about, versions or (facts.version_pinned or ""), _address(name)))
    head = ["`--engine`", "what it is", "versions that can be obtained", "`--dsn`"]
    return f"# Engines\n\n{OBTAINED}\n{table(head, rows)}"


def _address(name: str) -> str:
    return ", ".join(code(scheme) for scheme in find_engines()[name].facts.schemes)


def workloads_page() -> str:
    """Return the page of workloads, from their manifests."""
    rows = [
        (
            f"[`{name}`](../workloads/data/{name}.md)",
            workload.facts.title,
            workload.facts.about,
            ", ".join(language.upper() for language in workload.facts.languages) or "SQL",
        )
        for name, workload in sorted(find_workloads().items())
    ]
    return f"# Workloads\n\n{table(['workload', 'title', 'what it does', 'language'], rows)}"


def findings_page() -> str:
    """Return the page of findings: one row for each file that finds something."""
    rooms: dict[str, list[tuple[str, str]]] = {}
    for method, find in methods().items():
        module = sys.modules[find.__module__]
        room = Path(str(module.__file__)).parent.name
        link = f"[`{method}`](../numbers/findings/{room}.md#{method})"
        rooms.setdefault(room, []).append((link, first_sentence(module.__doc__)))
    tables = [
        f"## {room}\n\n{table(['finding', 'what it says'], rows)}" for room, rows in rooms.items()
    ]
    head = "# Findings\n\nWhat a report may say. How each is found: follow its name.\n"
    return "\n".join([head, *tables])


def checks_page() -> str:
    """Return the page of checks, by kind of record."""
    tables = []
    for kind in FOLDERS:
        rows = [
            (code(name), first_sentence(sys.modules[check.__module__].__doc__))
            for name, check in find_checks(kind)
        ]
        tables.append(
            f"## Of a record of kind {kind}\n\n{table(['check', 'what it judges'], rows)}"
        )
    head = (
        "# Checks\n\nEach check gives *valid*, *unknown* or *invalid*; the worst one decides."
        " [When, and by which threshold](../numbers/checks.md).\n"
    )
    return "\n".join([head, *tables])
