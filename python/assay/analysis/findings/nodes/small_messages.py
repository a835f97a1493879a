"""Finds many small messages between nodes, whose scheduling costs more than longer ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.words import MESSAGES, SCHEDULING
from assay.analysis.findings.knob_advice import sweep_words
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.cluster.line import NodeFigures
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "small-messages"
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
# Example: Virtuoso's Q13 on four nodes sent 742,602 KB/s in 112,405 messages/s of 6.6 KB. With
# vectors ten times as long, the query was fastest: a compromise between scheduling and blocking.
SMALL_BYTES = 64 * 1024
TO_TRY = "send longer messages: use larger batches, or split each batch into fewer parts"


def find(case: Case) -> list[Finding]:
    """Return a finding of the task time spent scheduling, for operations with short messages."""
    cluster = case.cluster
    if cluster is None:
        return []
    short = {
        name: line.whole
        for name, line in cluster.operations.items()
        if (length := line.whole.bytes_a_message) is not None and length < SMALL_BYTES
    }
    shares = {
        name: share
        for name, figures in short.items()
        if (share := figures.scheduling_share) is not None
    }
    fractions = at_least(shares, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    claim = (
        f"Scheduling took {percent_text(effect)} of the time of tasks, with messages of "
        f"{_length(short[names[0]])}, most in {names_text(names)}"
    )
    evidence = [
        Evidence(f"{name}: {_messages_text(short[name])}", "cluster")
        for name in names[:NAMED_OPERATIONS]
    ]
    to_try = sweep_words(case, "scheduling", (SCHEDULING, MESSAGES), names[0]) or TO_TRY
    return [case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)]


def _length(figures: NodeFigures) -> str:
    return bytes_text(figures.bytes_a_message)


def _messages_text(figures: NodeFigures) -> str:
    count = count_text(round(figures.grown[MESSAGES]))
    scheduling = percent_text(figures.scheduling_share)
    return f"{count} messages of {_length(figures)}, scheduling {scheduling}"
