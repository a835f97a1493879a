"""Finds waits for the queue of notifications, whose lock each notifying transaction takes.

PostgreSQL lets one transaction of the whole server at a time commit notifications, so that all
listening sessions receive them in the order of the commits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.waiting.waits import (
    one_client_advice,
    waiting_evidence,
    waiting_words,
    with_one_client,
)
from assay.model.finding import Advice, Evidence
from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import Trigger

# Object of the lock, in the words of the engine's samples of waiting sessions (`activity.sql`).
QUEUE = "the queue of notifications"
LOCK = "lock"
FEWER = (
    "notify in fewer transactions: collect the changes and let one session notify of many at once, "
    "or notify only if a session listens for it"
)
TRIES = "switches the trigger off, which shows what the notifications cost"
_NOTIFIES = re.compile(r"\bpg_notify\s*\(|(?:^|;)\s*notify\s", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A part of the run that sends notifications.

    Attributes:
        text: The part as a clause, such as `trigger told on messages notifies`.
        at: Place where a reader can check it, as in `Evidence`.
        trigger: The trigger; None if a statement sends the notification itself.
    """

    text: str
    at: str
    trigger: Trigger | None = None


def notifications_finding(
    case: Case, method: str, fractions: dict[str, float], sessions: Sequence[Evidence]
) -> Finding:
    """Return the finding of transactions that wait to commit their notifications.

    Args:
        case: The run.
        method: Name of the finding.
        fractions: Share of each operation's time that it waited for the queue.
        sessions: Evidence of the sessions that hold the lock.
    """
    sources = list(_sources(case, fractions))
    by = f"; {sources[0].text}" if sources else ""
    claim = (
        f"{waiting_words(case, fractions)} for the lock of {QUEUE}: each transaction that "
        "notifies holds it during its commit, so that such transactions commit one after "
        f"another{by}"
    )
    evidence = [
        *waiting_evidence(case, fractions, (LOCK,)),
        *(Evidence(source.text, source.at) for source in sources),
        *sessions,
    ]
    effect = case.of_run(fractions)
    trigger = next((source.trigger for source in sources if source.trigger is not None), None)
    if trigger is not None:
        advice: Advice | None = Advice("trigger", trigger.name, {"table": trigger.table}, effect)
        to_try = f"{FEWER}; {case.try_words(method, fractions, TRIES)}"
    else:
        advice, to_try = one_client_advice(case, effect), FEWER
        if advice is not None:
            to_try = with_one_client(case, method, fractions, FEWER)
    return case.finding(method, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)


def _sources(case: Case, fractions: dict[str, float]) -> Iterator[Source]:
    """Yield the triggers and statements that notify, of the operations that wait most first."""
    functions = {notifier.function for notifier in case.notifiers}
    triggers = {(notifier.table, notifier.trigger) for notifier in case.notifiers}
    named = set()
    for operation in case.largest_first(fractions):
        for plan in case.plans.get(operation, ()):
            for trigger in plan.triggers:
                key = (trigger.table, trigger.name)
                if key in triggers and key not in named:
                    named.add(key)
                    words = f"trigger {trigger.name} on {trigger.table} notifies"
                    yield Source(words, f"catalogue:{trigger.table}", trigger)
        text = without_remarks(case.statements.get(operation))
        if _NOTIFIES.search(text):
            yield Source(f"a statement of {operation} notifies", f"statement:{operation}")
        for function in sorted(functions):
            if re.search(rf"\b{re.escape(function)}\s*\(", text, re.IGNORECASE):
                words = f"{operation} calls {function}, which notifies"
                yield Source(words, f"statement:{operation}")
