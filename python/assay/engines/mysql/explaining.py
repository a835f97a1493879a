"""Reads plans from MySQL: measured plans of queries, estimated plans of other statements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pymysql

from assay.engines.mysql.plans import normalised
from assay.engines.mysql.server import CONF
from assay.engines.mysql_family.alternatives import CANCELLED
from assay.engines.mysql_family.explaining import CataloguePlans
from assay.engines.mysql_family.plan_facts import SWITCH, changed_of
from assay.engines.mysql_family.statements import file_text

if TYPE_CHECKING:
    from assay.model.catalogue import ChangedSetting

CHANGES = {"delete", "insert", "replace", "update"}
# Optimiser flags that the manual documents as off by default; all others are on.
OFF = {"batched_key_access", "hypergraph_optimizer", "subquery_to_derived", "use_invisible_indexes"}
# Default settings of optimiser and executor, as the manual documents them.
DEFAULTS = {
    "eq_range_index_dive_limit": "200",
    "join_buffer_size": "262144",
    "max_heap_table_size": "16777216",
    "max_seeks_for_key": "18446744073709551615",
    "optimizer_prune_level": "1",
    "optimizer_search_depth": "62",
    "range_optimizer_max_mem_size": "8388608",
    "read_rnd_buffer_size": "262144",
    "sort_buffer_size": "262144",
    "tmp_table_size": "16777216",
}
ESTIMATES = "MySQL tells no rows and times of a statement that changes rows; it was executed"


class MysqlPlans(CataloguePlans):
    """Reads plans of MySQL."""

    normalised = staticmethod(normalised)
    hints_join_order = True

    def read_plan(self, asked: str, limit_s: float) -> tuple[str | None, str | None]:
        """Return a statement's plan, in MySQL's older format if it changes rows."""
        if asked.split(maxsplit=1)[0].lower() not in CHANGES:
            plan, reason = super().read_plan(asked, limit_s)
            return self._with_columns(asked, plan), reason
        estimated = self._tables(asked)
        if not limit_s:
            return estimated, None
        self.counted(lambda: self.rows(asked))
        return estimated, ESTIMATES

    def changed_settings(self) -> list[ChangedSetting]:
        """Return optimiser settings and flags that differ from the manual's defaults.

        Raises `EngineError`.

        The server does not report a compiled-in default: its DEFAULT is the value at startup.
        """
        values = {str(name): str(value) for name, value in self.read_rows("plans/settings.sql")}
        flags = [flag.partition("=")[0] for flag in values[SWITCH].split(",")]
        default = ",".join(f"{flag}={'off' if flag in OFF else 'on'}" for flag in flags)
        defaults = DEFAULTS | {SWITCH: default}
        return changed_of(
            [(name, value, defaults[name]) for name, value in values.items() if name in defaults]
        )

    def estimated(self, asked: str) -> str:
        """Return a MySQL statement's estimated plan, in older JSON form if it changes rows."""
        changes = asked.split(maxsplit=1)[0].lower() in CHANGES
        return self._tables(asked) if changes else super().estimated(asked)

    def _tables(self, asked: str) -> str:
        """Return a statement's estimated plan in MySQL's older JSON format."""
        self.rows(file_text("plans/tables.sql", CONF))
        try:
            return self.explain_text("plans/estimated.sql", asked)
        finally:
            self.rows(file_text("plans/iterators.sql", CONF))

    def _with_columns(self, asked: str, plan: str | None) -> str | None:
        """Return a MySQL plan with the columns read, which only the older format has."""
        if plan is None:
            return None
        return json.dumps(json.loads(plan) | json.loads(self._tables(asked)), indent=1)

    def executed(self, asked: str) -> str:
        """Return a statement's executed plan; raise an error if its execution was cut off.

        The warning is read at once, because the next statement replaces it.
        """
        plan = super().executed(asked)
        for _, number, message in self.rows(file_text("warnings.sql")):
            if number in CANCELLED:
                raise pymysql.OperationalError(number, message)
        return plan
