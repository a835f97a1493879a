"""Makes the study that kills an engine under load and looks for acknowledged writes.

The study has two parts, `crash` and `device`. In part `crash` the engine's processes are killed,
which leaves the kernel's page cache intact. In part `device` the engine recovers from a snapshot of
the device.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.figures.loads.durability import MOMENT
from assay.model.errors import UsageError
from assay.model.units import parse_duration_s
from assay.record.studies import StudyFigure
from assay.running.asked.asking import considered
from assay.running.asked.parsing import DURATION_MAX_S, DURATION_MIN_S
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest

CRASH, DEVICE = "crash", "device"
# Seconds for which a load continues after the last possible time of a kill.
SPARE_S = 60.0
COPY_EVERY_S, COPIED_MIN_S = 2.0, 5.0


@dataclass(frozen=True)
class Crashes:
    """The kills and device snapshots that an engine must survive.

    Attributes:
        kills: Number of kills, each in a separate run.
        copies: Number of device snapshots in one run.
        between_s: Earliest and latest time of a kill, in seconds from the start of the measured
            part; each time is drawn from the seed.
    """

    kills: int
    copies: int
    between_s: tuple[float, float]


def parse_between(text: str) -> tuple[float, float]:
    """Return the two times in a text such as `2s-5s`.

    Raises:
        UsageError: If the text does not have one of these forms, or the second time is before the
            first.
    """
    first, _, last = text.partition("-")
    try:
        between = (parse_duration_s(first.strip()), parse_duration_s((last or first).strip()))
    except ValueError as error:
        raise UsageError(f"--between {text}: {error}; write it like 2s-5s") from error
    if not DURATION_MIN_S <= between[0] <= between[1] <= DURATION_MAX_S:
        raise UsageError(
            f"--between {text}: the first time must be above 0 and before the second, which is a"
            " year at most"
        )
    return between


def durability_study(base: RunRequest, crashes: Crashes) -> Study:
    """Return the study of one engine at one level of durability.

    Args:
        base: Request of a mix, without a crash.
        crashes: Kills and snapshots.

    Raises:
        UsageError: If neither kills nor snapshots are possible on this host.
    """
    wanted = (
        (CRASH, "The engine's processes are killed under load.", _kills(base, crashes)),
        (DEVICE, "What reached the device under load is copied.", _copied(base, crashes)),
    )
    parts, without = [], {}
    for name, about, variants in wanted:
        try:
            for _, request in variants[:1]:
                considered(request)
        except UsageError as error:
            without[name] = str(error)
            continue
        if variants:
            named_variants = tuple(
                Variant(moment, request, {MOMENT: moment}) for moment, request in variants
            )
            parts.append(Part(name, named_variants, 1, about))
    if not parts:
        reasons = "; ".join(without.values()) or "say how many --kills or --copies"
        raise UsageError(reasons)
    figure = StudyFigure(
        "durability", tuple(part.name for part in parts), "durability", "What survived"
    )
    level = base.durability or "the settings it has"
    question = f"Does what {base.engine} acknowledged of {base.workload} survive, at {level}?"
    return Study(question, tuple(parts), base.seed, "Durability", (figure,), without)


def _kills(base: RunRequest, crashes: Crashes) -> list[tuple[str, RunRequest]]:
    """Return a run for each kill, with its own time and its own seed of the load."""
    drawn = random.Random(f"kills {base.seed}")  # noqa: S311 - moments, not a secret
    moments = []
    for number in range(1, crashes.kills + 1):
        kill_s = round(drawn.uniform(*crashes.between_s), 3)
        request = base.changed(
            kill_s=kill_s,
            time_s=crashes.between_s[1] + SPARE_S,
            seed=base.seed + number - 1,
            own_device=False,
            device_bytes=None,
        )
        moments.append((f"kill {number}", request))
    return moments


def _copied(base: RunRequest, crashes: Crashes) -> list[tuple[str, RunRequest]]:
    """Return the run that takes all device snapshots."""
    if not crashes.copies:
        return []
    time_s = max(COPIED_MIN_S, COPY_EVERY_S * crashes.copies)
    request = base.changed(copies=crashes.copies, own_device=True, time_s=time_s)
    return [("copies", request)]
