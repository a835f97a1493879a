"""Asks MariaDB for plans, and for what of its catalogue explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.mariadb.plans import normalised
from assay.engines.mysql_family.explaining import CataloguePlans
from assay.engines.mysql_family.plan_facts import changed_of

if TYPE_CHECKING:
    from assay.model.catalogue import ChangedSetting


class MariaPlans(CataloguePlans):
    """See `assay.engines.plan_reading.PlanReader`."""

    normalised = staticmethod(normalised)

    def changed_settings(self) -> list[ChangedSetting]:
        """Return settings of the optimiser away from their default. Raises `EngineError`."""
        return changed_of(self.read_rows("plans/changed_settings.sql"))
