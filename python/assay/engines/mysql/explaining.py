"""Asks MySQL for plans: it tells what it did of statements that read, and a guess of others."""

from __future__ import annotations

from assay.engines.mysql.server import CONF
from assay.engines.mysql_family.explaining import CANCELLED, FamilyPlans
from assay.engines.mysql_family.statements import file_text

CHANGES = {"delete", "insert", "replace", "update"}
ESTIMATES = "MySQL tells no rows and times of a statement that changes rows; it was executed"


class MysqlPlans(FamilyPlans):
    """See `assay.engines.contract.PlanReader`."""

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """As others have it, but for changes, of which only the older format tells a table."""
        if asked.split(maxsplit=1)[0].lower() not in CHANGES:
            return self._cut_off(asked, limit_s, *super().read_plan(asked, limit_s))
        self.rows(file_text("plans/tables.sql", CONF))
        estimated = self.told("plans/estimated.sql", asked)
        self.rows(file_text("plans/iterators.sql", CONF))
        if not limit_s:
            return estimated, None
        self.rows(asked)
        return estimated, ESTIMATES

    def _cut_off(
        self, asked: str, limit_s: float, plan: str | None, reason: str | None
    ) -> tuple[str | None, str | None]:
        """A plan, or estimates where its execution was cut off, which the server only warns of."""
        said = {number for _, number, _ in self.rows(file_text("warnings.sql"))}
        if reason or not said & CANCELLED:
            return plan, reason
        return self.told("plans/estimated.sql", asked), f"it was cancelled after {limit_s:.3g} s"
