"""MariaDB's plans in words that are no engine's."""
from __future__ import annotations
from assay.model.plan import Plan
def normalised(told: str, operation: str, statement: int, native: str) -> Plan:
    raise ValueError("todo")
