"""Asks Dolt for plans, which it tells without executing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql

from assay.engines.dolt.plans import REASON
from assay.engines.mysql_family.connecting import words_of
from assay.engines.mysql_family.explaining import OF_TRANSACTIONS, TRANSACTION_WORDS, FamilyPlans
from assay.engines.mysql_family.statements import bound, file_text, pieces, split

if TYPE_CHECKING:
    from collections.abc import Sequence

ASKED = "plans/estimated.sql"


class DoltPlans(FamilyPlans):
    """See `assay.engines.contract.PlanReader`: a drawing of many rows, and nothing is executed."""

    def _one(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """A statement's plan, and why it has its shape only."""
        del limit_s
        if split(text)[0].split()[0].lower() in TRANSACTION_WORDS:
            return None, OF_TRANSACTIONS
        asked = bound(pieces(text), values, self._connection.escape)
        try:
            rows = self._rows(f"{file_text(ASKED, self._conf)}\n{asked}")
        except pymysql.Error as error:
            return None, f"the server said: {words_of(error)}"
        return "\n".join(str(row[0]) for row in rows), REASON
