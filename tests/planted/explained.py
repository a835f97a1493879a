"""Runs `assay run` on a plant, as a person would, while the cause is at work."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.e2e.conftest import PATIENCE_S, Lab
from tests.planted.outside import planted_outside
from tests.planted.plants import Arm, Plant, Strength
from tests.planted.reached import Reached, reached

LOOK_S = 0.005


def explained(lab: Lab, plant: Plant, strength: Strength) -> dict[str, Any]:
    """The document of a run that has the cause at some strength.

    Raises:
        UnplantableError: Where this host does not let it be planted.
    """
    arm = plant.arm(strength)
    started = lab.begin("run", *arguments(plant, arm, lab.root), "--json")
    server = None if arm.outside is None else _serving(lab, started)
    with planted_outside(arm.outside, server):
        told, errors = started.communicate(timeout=PATIENCE_S)
    # 3: the verdict may be invalid where the plant itself is what a check warns of.
    assert started.returncode in {0, 3}, errors
    document: dict[str, Any] = json.loads(told)
    return document


def arguments(plant: Plant, arm: Arm, place: Path) -> list[str]:
    """What `assay run` is asked for."""
    asked = [str(_folder(plant, arm, place)), "--engine", plant.engine]
    asked += ["--scale", f"{arm.scale:g}", "--min-time", f"{plant.min_time_s:g}s"]
    for name, value in arm.settings.items():
        asked += ["--set", f"{name}={value}"]
    for file in arm.prepare:
        asked += ["--prepare", str(file)]
    if plant.pin:
        asked += ["--pin", ",".join(f"{who}={cpu}" for who, cpu in plant.pin.items())]
    return asked


def _folder(plant: Plant, arm: Arm, place: Path) -> Path:
    """The workload; with other statements it is a copy."""
    if arm.operations is None:
        return plant.folder
    copied = place / plant.name
    shutil.copytree(plant.folder, copied, dirs_exist_ok=True)
    shutil.copytree(arm.operations, copied / "operations", dirs_exist_ok=True)
    return copied


def _serving(lab: Lab, started: subprocess.Popen[str]) -> Reached:
    """The run's own server, as soon as it answers."""
    while started.poll() is None:
        for cluster in lab.instances.glob("*/data/cluster"):
            if server := reached(cluster):
                return server
        time.sleep(LOOK_S)
    raise AssertionError(started.communicate()[1])
