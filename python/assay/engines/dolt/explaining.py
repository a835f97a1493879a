"""Asks Dolt for plans, which it tells without executing anything."""

from __future__ import annotations

from assay.engines.dolt.plans import REASON
from assay.engines.mysql_family.explaining import FamilyPlans
from assay.engines.mysql_family.statements import file_text


class DoltPlans(FamilyPlans):
    """See `assay.engines.contract.PlanReader`: a drawing of many rows, and nothing is executed."""

    executes = False

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """A statement's plan, and why it has its shape only."""
        del limit_s
        rows = self.rows(f"{file_text('plans/estimated.sql', self._conf)}\n{asked}")
        return "\n".join(str(row[0]) for row in rows), REASON
