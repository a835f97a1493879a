"""Captures plans, without execution, of the statements that took most of a server's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.running.plans import Capture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.analysis.observed.statements import Watched
    from assay.engines.plan_reading import HasPlans, PlanReader
    from assay.model.watched import StatementText
    from assay.running.telling import Teller

# Minimum share of the time of a statement whose plan is captured, and maximum number of plans.
SHARE_MIN = 0.01
PLANS_MAX = 20


def capture_plans(
    engine: HasPlans,
    reader: PlanReader,
    raw_dir: Path,
    statements: Sequence[tuple[str, Watched, StatementText]],
    teller: Teller,
) -> None:
    """Capture the plans of an observed server's statements, and write them to the record.

    Raises:
        EngineError: If the connection to the server is lost.
    """
    whole = sum(watched.seconds for _, watched, _ in statements)
    asked = [
        (name, watched, text)
        for name, watched, text in statements[:PLANS_MAX]
        if watched.seconds >= SHARE_MIN * whole
    ]
    operations = tuple(_operation(name, text.example or text.text) for name, _, text in asked)
    mean_s: Mapping[str, float] = {
        name: watched.mean_s for name, watched, _ in asked if watched.mean_s is not None
    }

    def tell(done: int, expected: int) -> None:
        teller.amount(done, expected, "statements")

    Capture(engine, reader, raw_dir, seed=0).all(Script(operations), mean_s, None, tell)


def _operation(name: str, text: str) -> ScriptOperation:
    return ScriptOperation(name, (ScriptStatement(text),))
