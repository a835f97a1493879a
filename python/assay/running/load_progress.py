"""Shows how far each phase of a load is, in the unit by which the phase ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from assay.record.layout import PHASE_MEASURED, PHASE_WARMUP
from assay.running.asked.driver_plan import steps

if TYPE_CHECKING:
    from assay.running.asked.asked_run import Asked
    from assay.running.telling import Teller


class LoadProgress:
    """Shows a user the driver's messages of progress."""

    def __init__(self, asked: Asked, teller: Teller) -> None:
        self._asked = asked
        self._teller = teller
        self._played = steps(asked.plan)

    def show(self, message: dict[str, Any]) -> None:
        """Show the operations, mixes or seconds of the message's phase."""
        phase = message["phase"]
        self._teller.phase(phase, message["begun_s"])
        before, expected = self._played[phase]
        if self._asked.test is not None and expected is not None:
            self._teller.amount(max(0, message["ended"] - before), expected, "operations")
        elif (mixes := self._mixes(phase)) is not None:
            self._teller.amount(message["mixes"], mixes or None, "mixes")
        else:
            played_s = time.monotonic() - message["begun_s"]
            self._teller.amount(played_s, self._expected_s(phase), "s")

    def _mixes(self, phase: str) -> int | None:
        """Return the number of mixes that end a phase, 0 if unknown; None for other phases."""
        request = self._asked.request
        if phase == PHASE_MEASURED and request.mixes_max is not None:
            return 0
        return {PHASE_MEASURED: request.mixes, PHASE_WARMUP: request.warmup_mixes}.get(phase)

    def _expected_s(self, phase: str) -> float | None:
        """Return the expected length of a phase in seconds, None if unknown."""
        request = self._asked.request
        if request.clients is None:
            return request.min_time_s if phase == PHASE_MEASURED else None
        return {PHASE_MEASURED: request.time_s, PHASE_WARMUP: request.warmup_s}.get(phase)
