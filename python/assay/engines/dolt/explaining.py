"""Reads plans from Dolt, which explains statements without executing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.dolt.plans import REASON
from assay.engines.mysql_family.explaining import FamilyPlans
from assay.engines.mysql_family.statements import file_text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Address


class DoltPlans(FamilyPlans):
    """Reads Dolt's plans from the output of EXPLAIN, without executing the statement.

    Args:
        address: Address of the server.
        conf: Configuration directory of the engine.
        is_old: Whether it is an old version, with another keyword for the same text.
    """

    executes = False

    def __init__(self, address: Address, conf: Path, *, is_old: bool) -> None:
        super().__init__(address, conf)
        self._asks = file_text("plans/estimated-old.sql" if is_old else "plans/estimated.sql", conf)

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """Return a statement's plan, and the reason why it has no measured values."""
        del limit_s
        rows = self.rows(f"{self._asks}\n{asked}")
        return "\n".join(str(row[0]) for row in rows), REASON
