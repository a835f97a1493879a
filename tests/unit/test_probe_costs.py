"""Probes look less often where they would take more of a core than they may."""

from __future__ import annotations

from assay.probes.disks import DisksProbe
from assay.probes.engine import EngineProbe, _affordable_s
from assay.probes.neighbours import NeighboursProbe
from assay.probes.processes import ProcessesProbe
from assay.probes.system import SystemProbe
from assay.probes.waits import WaitsProbe

OF_EVERY_SERVER = (
    DisksProbe,
    EngineProbe,
    NeighboursProbe,
    ProcessesProbe,
    SystemProbe,
    WaitsProbe,
)


def test_those_of_a_server_may_take_a_hundredth_of_a_core_together() -> None:
    # Writing what they saw comes on top of looking.
    assert sum(probe.core_share_max for probe in OF_EVERY_SERVER) <= 0.0085 + 1e-9


def test_a_dear_reading_comes_less_often_and_never_too_seldom() -> None:
    assert _affordable_s(1_000_000, 0.001, 0.5, 5.0) == 1.0
    assert _affordable_s(1_000, 0.001, 0.5, 5.0) == 0.5
    assert _affordable_s(1_000_000_000, 0.001, 0.5, 5.0) == 5.0
