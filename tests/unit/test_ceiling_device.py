"""The environment of a ceiling names the device that was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.running.host.devices import device_of
from assay.study.ceiling.measuring import _environment

if TYPE_CHECKING:
    from pathlib import Path


def test_a_ceiling_names_the_disk_that_runs_are_held_against(tmp_path: Path) -> None:
    device = device_of(tmp_path)
    if device is None:
        pytest.skip("temporary files lie on no block device")
    environment = _environment(tmp_path, None, None)
    assert environment["host"]["data_device"] == device
    assert environment["medium"]["name"]
