"""Reads plans from MariaDB, with catalogue facts that explain them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay.engines.mariadb.plans import DATABASE, normalised
from assay.engines.mysql_family.explaining import CataloguePlans
from assay.engines.mysql_family.plan_facts import changed_of
from assay.engines.mysql_family.statements import file_text

if TYPE_CHECKING:
    from assay.model.catalogue import ChangedSetting


class MariaPlans(CataloguePlans):
    """Reads plans of MariaDB."""

    normalised = staticmethod(normalised)

    def explain_text(self, how: str, asked: str) -> str:
        """Return MariaDB's plan as text, with the session's database added."""
        plan = super().explain_text(how, asked)
        database = self.rows(file_text("plans/database.sql"))[0][0]
        return json.dumps(json.loads(plan) | {DATABASE: database}, indent=2)

    def changed_settings(self) -> list[ChangedSetting]:
        """Return the optimiser settings that differ from their defaults.

        Raises `EngineError`.
        """
        return changed_of(self.read_rows("plans/changed_settings.sql"))
