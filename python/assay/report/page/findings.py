"""Values of a page's template for findings: claims, evidence and advice.

Evidence names a place of the report (`plan:q18`). The place becomes a link if the page has an
anchor for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from assay.model.units import percent_text
from assay.report.page.plans import has_plan
from assay.report.words.findings import COSTS, carry_out, is_share, to_do_texts

if TYPE_CHECKING:
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.host.engine_counters import EngineCountersSection
    from assay.report.documents.run import RunDocument

COMMAND = re.compile(r"`([^`]+)`")
TELLS_WORDS = {"bound": "bound", "cause": "cause", "shape": "where the time goes"}
FIRST_FOLD = 3
# In workloads with at least this many operations, a finding about all does not list them.
ALL_FROM = 4


class Anchors(NamedTuple):
    """The anchors of a page to which evidence of a finding can link."""

    places: dict[str, frozenset[str]]

    def href(self, at: str) -> str | None:
        """Return the link to the evidence of a finding; None if the page does not show it."""
        kind, _, name = at.partition(":")
        return f"#{at}" if name in self.places.get(kind, frozenset()) else None


def anchors(document: RunDocument, settings: dict[str, object]) -> Anchors:
    """Return the anchors of a document's page, given the run's effective settings."""
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
    """Return the names of counters and counter tables that the page shows."""
    names = {figure["name"] for figure in (*counted["counters"], *counted["tables"])}
    return frozenset(names | ({"activity"} if counted["activity"] else set()))


def finding_rows(document: RunDocument, places: Anchors) -> list[dict[str, object]]:
    """Return one page row for each finding, in the document's order."""
    return [_row(document, finding, places) for finding in document["findings"]]


def ruled_out_rows(document: RunDocument) -> list[tuple[str, str]]:
    """Return causes that were ruled out, each with the contradicting evidence."""
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
    """Return the source of evidence as text, such as `plan of q18`."""
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
        "effect": percent_text(share) if is_share(finding) else "",
        "width": "0%" if not is_share(finding) else f"{100 * min(1.0, max(0.0, share)):.1f}%",
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
    return f"{least} to {best} could be saved"


def _operations(
    document: RunDocument, finding: FindingRow, places: Anchors
) -> list[tuple[str, str | None]]:
    """Return the operations of a finding with links to their bars."""
    names = finding["operations"]
    if len(names) == len(document["operations"]) > ALL_FROM:
        return [(f"all {len(names)} operations", "#where")]
    return [(name, places.href(f"where:{name}")) for name in names]


def _gain(share: float | None) -> str | None:
    return None if share is None else f"predicted to save {percent_text(share)} of the time"


def _change(finding: FindingRow) -> list[tuple[str, str, bool]]:
    """Return label, text and whether it can be copied, for each statement of a change."""
    parts = (text.partition(": ") for text in to_do_texts(finding))
    return [(lead, text, not lead.startswith(COSTS)) for lead, _, text in parts]


def _to_try(text: str | None) -> list[tuple[str, bool]]:
    """Return advice as pieces of text, each marked if it is a command to copy."""
    if not text:
        return []
    if text.startswith("assay "):
        return [(text, True)]
    pieces = COMMAND.split(text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]
