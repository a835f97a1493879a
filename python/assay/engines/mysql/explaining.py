"""Asks MySQL for plans: it tells what it did of statements that read, and a guess of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pymysql

from assay.engines.mysql.plans import normalised
from assay.engines.mysql.server import CONF
from assay.engines.mysql_family.explaining import CANCELLED, CataloguePlans
from assay.engines.mysql_family.plan_facts import SWITCH, changed_of
from assay.engines.mysql_family.statements import file_text

if TYPE_CHECKING:
    from assay.model.catalogue import ChangedSetting

CHANGES = {"delete", "insert", "replace", "update"}
# Flags of the switch that are off as the server is built, by the manual; all others are on.
OFF = {"batched_key_access", "hypergraph_optimizer", "subquery_to_derived", "use_invisible_indexes"}
ESTIMATES = "MySQL tells no rows and times of a statement that changes rows; it was executed"


class MysqlPlans(CataloguePlans):
    """See `assay.engines.contract.PlanReader`."""

    normalised = staticmethod(normalised)

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

        The server tells no setting's default: what it calls so is what it was started with.
        """
        ((value,),) = self.told_rows("plans/switch.sql")
        flags = [flag.partition("=")[0] for flag in str(value).split(",")]
        default = ",".join(f"{flag}={'off' if flag in OFF else 'on'}" for flag in flags)
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
