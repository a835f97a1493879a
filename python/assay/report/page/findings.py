"""Findings of a page with the names of its template: claim, evidence and advice.

Evidence names its place (`plan:q18`), which becomes a link if the page has that anchor.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from assay.model.units import percent_text
from assay.report.page.plans import has_plan
from assay.report.words.findings import COSTS, carry_out, to_do_texts

if TYPE_CHECKING:
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.host.engine_counters import EngineCountersSection
    from assay.report.documents.run import RunDocument

COMMAND = re.compile(r"`([^`]+)`")
TELLS_WORDS = {"bound": "bound", "cause": "cause", "shape": "where the time goes"}
FIRST_FOLD = 3
# Operations of a workload with more are not named one by one where a finding is about all.
ALL_FROM = 4


class Anchors(NamedTuple):
    """Anchors of a page for evidence, by the word before the colon."""

    places: dict[str, frozenset[str]]

    def href(self, at: str) -> str | None:
        """Return the link to a place; None if this page does not show it."""
        kind, _, name = at.partition(":")
        return f"#{at}" if name in self.places.get(kind, frozenset()) else None


def anchors(document: RunDocument, settings: dict[str, object]) -> Anchors:
    """The anchors of the page of a document with these effective settings."""
    names = frozenset(operation["name"] for operation in document["operations"])
    profile = document["profile"]
    sampled = {operation["operation"] for operation in profile["operations"]} if profile else ()
    counted = document["engine_counters"]
    return Anchors(
        {
            "where": names,
            "plan": frozenset(name for name in names if has_plan(document, name)),
            "profile": frozenset(sampled) | ({""} if profile else set()),
            "timeline": frozenset({""}),
            "steady": frozenset({""} if document["steady"] else ()),
            "cluster": frozenset({""} if document["cluster"] else ()),
            "counter": _counted(counted) if counted else frozenset(),
            "setting": frozenset(settings),
            "check": frozenset(result["check"] for result in document["checks"]),
        }
    )


def _counted(counted: EngineCountersSection) -> frozenset[str]:
    """Names of figures, of tables of objects, and of the line of activity where there is one."""
    names = {figure["name"] for figure in (*counted["counters"], *counted["tables"])}
    return frozenset(names | ({"activity"} if counted["activity"] else set()))


def finding_rows(document: RunDocument, places: Anchors) -> list[dict[str, object]]:
    """One row per finding, in the document's order."""
    return [_row(document, finding, places) for finding in document["findings"]]


def ruled_out_rows(document: RunDocument) -> list[tuple[str, str]]:
    """Return causes that were ruled out, with the contradicting evidence."""
    return [
        (
            finding["claim"],
            "; ".join(
                evidence["says"] for evidence in finding["evidence"] if evidence["contradicts"]
            ),
        )
        for finding in document["ruled_out"]
    ]


def place_words(at: str) -> str:
    """A place as a reader calls it: `plan of q18`."""
    kind, _, name = at.partition(":")
    kind = {"where": "time", "counter": "counter", "profile": "profile"}.get(kind, kind)
    if not name:
        return kind
    name = name.replace("_", " ") if kind == "check" else name
    return f"{kind} {name}" if kind in {"counter", "setting", "check"} else f"{kind} of {name}"


def _row(document: RunDocument, finding: FindingRow, places: Anchors) -> dict[str, object]:
    share = finding["effect_share"]
    advice = finding["advice"]
    return {
        "claim": finding["claim"],
        "is_suspected": finding["tells"] == "cause" and finding["certainty"] == "suspected",
        "settle": finding["settle"],
        "saved": None if finding["saved"] is None else _saved(finding["saved"]),
        "shares_with": ", ".join(finding["shares_with"]),
        "tells": TELLS_WORDS[finding["tells"]],
        "effect": percent_text(share),
        "width": f"{100 * min(1.0, max(0.0, share)):.1f}%",
        "interval": finding["interval_words"],
        "method": finding["method"],
        "operations": _operations(document, finding, places),
        "evidence": [
            {
                "says": evidence["says"],
                "against": evidence["contradicts"],
                "place": place_words(evidence["at"]),
                "href": places.href(evidence["at"]),
            }
            for evidence in finding["evidence"]
        ],
        "change": _change(finding),
        "to_try": _to_try(finding["to_try"]),
        "gain": None if advice is None else _gain(advice["gain_share"]),
        "carry_out": carry_out(document["run"], finding),
    }


def _saved(edges: list[float]) -> str:
    least, best = (percent_text(edge) for edge in edges)
    return f"{least} to {best} to be saved"


def _operations(
    document: RunDocument, finding: FindingRow, places: Anchors
) -> list[tuple[str, str | None]]:
    """The operations that a finding is about, with links to their bars; all of them as one."""
    names = finding["operations"]
    if len(names) == len(document["operations"]) > ALL_FROM:
        return [(f"all {len(names)} operations", "#where")]
    return [(name, places.href(f"where:{name}")) for name in names]


def _gain(share: float | None) -> str | None:
    return None if share is None else f"predicted to save {percent_text(share)} of the time"


def _change(finding: FindingRow) -> list[tuple[str, str, bool]]:
    """Lead, text and whether the text can be copied, of each part of a change on a server."""
    parts = (text.partition(": ") for text in to_do_texts(finding))
    return [(lead, text, not lead.startswith(COSTS)) for lead, _, text in parts]


def _to_try(text: str | None) -> list[tuple[str, bool]]:
    """Return advice as pieces, with commands marked so that they can be copied."""
    if not text:
        return []
    if text.startswith("assay "):
        return [(text, True)]
    pieces = COMMAND.split(text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]
