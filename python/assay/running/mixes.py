"""Records the progress of query mixes and the engine's reads, in the driver's process.

The driver reports ended mixes; sampling the engine's processes costs at most a hundredth of the
time. A phase that continues until it is steady is judged by the same method as in reports.
"""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING, Any, Self

from assay import _core
from assay.analysis.load.steady_state import Mark, judged
from assay.probes.streams import MIXES, Stream
from assay.record.layout import MIXES_STREAM
from assay.running.processes.control import METERED_HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

log = logging.getLogger(__name__)

# Maximum share of time for samples, which limits how often they are taken.
LOOKS_SHARE = 0.01
LOOKS_APART_S = 0.05
FLUSH_S = 0.5
# Mixes are judged again when their number has grown by this factor, because each judgement may err.
JUDGED_GROWTH = 1.1
ELSEWHERE = "the processes of the server are not known on this host"
NOT_ASKED = "no probe of processes was asked for"


class Mixes:
    """Records finished query mixes while a load runs."""

    def __init__(self, raw_dir: Path, phases: Sequence[Mapping[str, Any]], reads_of: Any) -> None:  # noqa: ANN401
        """Prepare recording for the phases whose clients execute query mixes.

        Args:
            raw_dir: `raw/` directory of the record.
            phases: Phases of the plan.
            reads_of: Pids of processes whose reads are counted, including descendants;
                `METERED_HOST` for this process; None if reads are not requested.
        """
        self._phases = {phase["name"]: phase for phase in phases}
        self._stream = Stream(raw_dir, MIXES_STREAM, MIXES)
        self._meter, self._why_no_reads = _meter(reads_of)
        self._marks: list[Mark] = []
        self._phase = ""
        # Reported mixes without a mark yet: their number, and the end of the last one.
        self._heard: tuple[int, int] | None = None
        self._due_s = self._flushed_s = 0.0
        self._judge_at = 0.0
        self._steady = False
        self._enough: int | None = None
        self._judged_s = self._looked_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._mark_last(self._reads())
        finally:
            self._stream.close()

    @property
    def ended(self) -> int:
        """The number of recorded query mixes that ended in the current phase."""
        return self._marks[-1].mixes if self._marks else 0

    def facts(self) -> dict[str, Any]:
        """Return the recorded query mixes in the form of run.json."""
        return {
            "why_no_reads": self._why_no_reads,
            "enough": self._enough,
            "looked_s": self._looked_s,
            "judged_s": self._judged_s,
        }

    def heard(self, phase: str, mixes: int, ended_ns: int) -> bool:
        """Record that query mixes ended; return True if they suffice to end the phase."""
        now_s = time.monotonic()
        begins = phase != self._phase
        if not begins and now_s < self._due_s:
            self._heard = (mixes, ended_ns)
            return self._steady
        reads = self._reads()
        if begins:
            self._mark_last(reads)
            self._phase, self._marks, self._steady = phase, [], False
            self._judge_at = float(self._phases[phase].get("passes_min", 1))
        self._mark(mixes, ended_ns, reads)
        if now_s - self._flushed_s > FLUSH_S:
            self._flushed_s = now_s
            self._stream.flush()
        took_s = time.monotonic() - now_s
        self._looked_s += took_s
        self._due_s = now_s + max(LOOKS_APART_S, took_s / LOOKS_SHARE)
        return self._judge()

    def _mark(self, mixes: int, ended_ns: int, reads: tuple[int | None, int | None]) -> None:
        self._heard = None
        self._marks.append(Mark(mixes, ended_ns, *reads))
        self._stream.push(self._phase, mixes, ended_ns, *reads)

    def _mark_last(self, reads: tuple[int | None, int | None]) -> None:
        """Record the end of a phase of query mixes."""
        if self._heard is not None:
            self._mark(*self._heard, reads)

    def _judge(self) -> bool:
        played = self._phases[self._phase]
        mixes = self._marks[-1].mixes
        if self._steady or not played.get("passes_max") or mixes < self._judge_at:
            return self._steady
        begun_s = time.monotonic()
        self._steady = judged(self._marks, int(played["arrival"]["clients"])).steady is True
        self._enough = mixes if self._steady else None
        self._judge_at = max(mixes + 1, mixes * JUDGED_GROWTH)
        self._judged_s += time.monotonic() - begun_s
        return self._steady

    def _reads(self) -> tuple[int | None, int | None]:
        if self._meter is None:
            return None, None
        try:
            counts = self._meter.read()
        except OSError as error:
            self._give_up(str(error))
            return None, None
        if counts == (None, None):
            self._give_up("the engine's processes do not tell")
        return counts

    def _give_up(self, why: str) -> None:
        log.warning("Assay no longer counts the reads of mixes: %s", why)
        self._meter, self._why_no_reads = None, why


def _meter(reads_of: Any) -> tuple[_core.ReadsMeter | None, str | None]:  # noqa: ANN401
    """Return the meter of bytes read, or the reason why there is none."""
    if reads_of is None:
        return None, NOT_ASKED
    pids = [os.getpid()] if reads_of == METERED_HOST else reads_of
    if not pids:
        return None, ELSEWHERE
    try:
        meter = _core.ReadsMeter(pids)
        # The first sample costs most, because it searches all processes of the host for
        # descendants.
        meter.read()
        return meter, None
    except OSError as error:
        return None, str(error)
