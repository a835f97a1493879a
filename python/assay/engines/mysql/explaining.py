"""Asks MySQL for plans: it tells what it did of statements that read, and a guess of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pymysql

from assay.engines.mysql.server import CONF
from assay.engines.mysql_family.explaining import CANCELLED, CataloguePlans
from assay.engines.mysql_family.plan_facts import SWITCH, changed_of
from assay.engines.mysql_family.statements import file_text, filled

if TYPE_CHECKING:
    from assay.model.catalogue import ChangedSetting

CHANGES = {"delete", "insert", "replace", "update"}
ESTIMATES = "MySQL tells no rows and times of a statement that changes rows; it was executed"


class MysqlPlans(CataloguePlans):
    """See `assay.engines.contract.PlanReader`."""

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """As others have it, but for changes, of which only the older format tells a table."""
        if asked.split(maxsplit=1)[0].lower() not in CHANGES:
            plan, reason = super().read_plan(asked, limit_s)
            return self._with_columns(asked, plan), reason
        estimated = self._tables(asked)
        if not limit_s:
            return estimated, None
        self.counted(lambda: self.rows(asked))
        return estimated, ESTIMATES

    def changed_settings(self) -> list[ChangedSetting]:
        """Return flags of the optimiser's switch away from how it is built. Raises `EngineError`.

        The server tells the default of no other setting, and only when it is set.
        """
        ((value,),) = self.told_rows("plans/switch.sql")
        self.told_rows("plans/switch_default.sql")
        ((default,),) = self.told_rows("plans/switch.sql")
        self.rows(filled("plans/switch_restore.sql", texts={"switch": str(value)}, conf=CONF))
        return changed_of([(SWITCH, value, default)])

    def _tables(self, asked: str) -> str:
        """What the older format tells of a statement."""
        self.rows(file_text("plans/tables.sql", CONF))
        try:
            return self.told("plans/estimated.sql", asked)
        finally:
            self.rows(file_text("plans/iterators.sql", CONF))

    def _with_columns(self, asked: str, plan: str | None) -> str | None:
        """A plan with what only the older format tells: which columns of tables are read."""
        if plan is None:
            return None
        return json.dumps(json.loads(plan) | json.loads(self._tables(asked)), indent=1)

    def executed(self, asked: str) -> str:
        """As others have it; that an execution was cut off, the server only warns of: it is raised.

        It is asked at once, for the next statement has warnings of its own.
        """
        plan = super().executed(asked)
        for _, number, message in self.rows(file_text("warnings.sql")):
            if number in CANCELLED:
                raise pymysql.OperationalError(number, message)
        return plan
