"""A CPU limit that held the engine back is named with its value where the run set it."""

from __future__ import annotations

import pytest

from assay.analysis.findings.host.throttled import find
from tests.cases import case, operation


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"cpu": 0.75}, "The CPU limit of 0.75 cores"), ({}, "A CPU limit stopped")],
)
def test_the_limit_is_named_with_its_value(limits: dict[str, float], message: str) -> None:
    held = case(operation(cpu_user=0.5, throttled=0.5), request={"limits": limits})
    assert find(held)[0].claim.startswith(message)
