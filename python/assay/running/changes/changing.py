"""Makes all changes of one run to its host, journals them, and reverts them at its end.

Invariant: every change is in the journal before it is made. If this process cannot revert it, a
    guardian, the next start or `assay doctor --restore` does.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import AssayError, RunFailedError, UsageError
from assay.model.limit import OF_DISK
from assay.running.asked.parsing import STATE_LOADED
from assay.running.changes.block_device import BlockDevice, device_below
from assay.running.changes.copies import Copies, moments_s
from assay.running.changes.device import MOUNT_POINT, make_device, size_for
from assay.running.changes.killed import killed_on_host, killed_words
from assay.running.changes.ledger import Ledger
from assay.running.changes.limits.contract import Wish
from assay.running.changes.limits.group import group_of
from assay.running.changes.limits.hierarchies import find_hierarchies
from assay.running.changes.limits.placing import cpus_for
from assay.running.changes.read_ahead import (
    device_read_ahead,
    like_the_disk,
    set_read_ahead,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.record.writer import RunWriter
    from assay.running.asked.request import RunRequest
    from assay.running.changes.ledger import HostChange
    from assay.running.changes.limits.contract import Group
    from assay.running.changes.undo import Step

log = logging.getLogger(__name__)

START, END = "start", "end"


@dataclass(frozen=True)
class Room:
    """The directories and the control group of a private engine server.

    Attributes:
        data: The engine's data directory.
        scratch: Directory for temporary files of an engine in the driver's process.
        groups: Files of control groups to which its processes write their pid at start.
    """

    data: Path
    scratch: Path
    groups: tuple[Path, ...] = ()


@dataclass
class Limited:
    """The resource limits of a run, in the form of run.json."""

    version: int
    device: str | None
    asked: dict[str, float]
    effective: dict[str, float | None]
    notes: list[str]
    counted: dict[str, dict[str, int | None]] = field(default_factory=dict)


class Changes:
    """All changes of one run to its host.

    Attributes:
        room: Directories and control group of the engine.
        copies: Snapshots of its device; None means no snapshots.
    """

    def __init__(self, request: RunRequest, instance: Path, run: RunWriter) -> None:
        self._request = request
        self._run = run
        self._instance = instance
        self._ledger = Ledger(instance)
        self._group: Group | None = None
        self._limited: Limited | None = None
        self._own: BlockDevice | None = None
        self._killed_before = killed_on_host()
        self.copies: Copies | None = None
        place = instance / MOUNT_POINT if request.own_device else instance
        self.room = Room(place / "data", place / "scratch")

    def house(self, data_bytes: int | None) -> None:
        """Make the engine's directories and control group, before its data exist.

        Args:
            data_bytes: Size of the data; None if they are loaded later and the size is unknown.

        Raises:
            RunFailedError: If a change cannot be made. The error message says how to allow it.
        """
        request = self._request
        if request.own_device:
            size_bytes = size_for(request.device_bytes, data_bytes)
            copied = request.copies or None
            self._own = make_device(self._instance, size_bytes, self._ledger, copied)
            if request.copies:
                moments = moments_s(request.seed, request.copies, request.time_s)
                self.copies = Copies(self._instance, moments, self._ledger)
            if request.read_ahead_bytes is None:
                self._read_as_below(self._own)
        if request.limits:
            self._limit()
        if request.state == STATE_LOADED:
            self._settle()
        self._tell()

    def settle(self) -> None:
        """Make the host changes that only the measured engine needs, before it opens files."""
        if self._request.state != STATE_LOADED:
            self._settle()
            self._tell()

    def note(self, step: Step, asked: str) -> HostChange:
        """Journal how to revert a file's change before it is made, and return its record.

        Raises:
            RunFailedError: If another active run has changed the file.
            OSError: If the journal cannot be written.
        """
        change = self._ledger.note(step, asked)
        self._tell()
        return change

    def check_free(self, file: Path) -> None:
        """Refuse to change a host file that another run has changed.

        Raises:
            RunFailedError: If another run has made such a change. The error message says what to
                do.
        """
        with self._ledger.locked():
            self._ledger.check_free(file)

    def edge(self, name: str) -> None:
        """Read the control group's counters at the start or end of the measured part."""
        if self._group is None or self._limited is None:
            return
        self._limited.counted[name] = {"time_ns": time.monotonic_ns(), **self._group.counted()}
        self._limited.effective = dict(self._group.effective())
        self._tell()

    def killed(self) -> str | None:
        """Return the memory limit that killed an engine process; None if none did."""
        counted = self._group.counted() if self._group is not None else {}
        return killed_words(
            self._request.limits, counted.get("oom_kills"), self._killed_before, killed_on_host()
        )

    def restore(self) -> None:
        """Revert all changes to the host.

        Raises:
            RunFailedError: If a change could not be reverted; it stays in the journal.
        """
        left = self._ledger.restore()
        self._tell()
        if left:
            raise RunFailedError(
                f"the run could not revert all its changes on this host ({'; '.join(left)}): "
                "`assay doctor --restore` tries again"
            )

    def _read_as_below(self, own: BlockDevice) -> None:
        """Copy the read-ahead of the disk below to a loop device, if it is known."""
        with suppress(UsageError):
            like_the_disk(own, device_below(self._instance), self._ledger)

    def _settle(self) -> None:
        if self._group is not None:
            with self._ledger.locked():
                self._group.settle(self._ledger.journal)
        size_bytes = self._request.read_ahead_bytes
        if size_bytes is not None:
            device = self._own or device_read_ahead(self.room.data)
            set_read_ahead(device, size_bytes, self._ledger)

    def _limit(self) -> None:
        request, device = self._request, None
        if any(name in OF_DISK for name in request.limits):
            device = self._own or device_below(self.room.data)
        own = self._own is not None
        wish = Wish(f"assay-{self._run.id}", request.limits, cpus_for(request), device, own)
        with self._ledger.locked():
            group = group_of(wish, find_hierarchies(), self._ledger.journal)
        self.room = replace(self.room, groups=tuple(group.members()))
        name = device.name if device else None
        effective = dict(group.effective())
        self._group = group
        self._limited = Limited(group.version, name, dict(request.limits), effective, group.notes)

    def _tell(self) -> None:
        if self._limited is not None:
            self._run.update(limits=asdict(self._limited))
        if self._ledger.made:
            self._run.update(changes=[asdict(change) for change in self._ledger.made])


@contextmanager
def changing(request: RunRequest, instance: Path, run: RunWriter) -> Iterator[Changes]:
    """Yield the host changes of a run, and revert them at the end of the block.

    Args:
        request: The request of the run.
        instance: The instance's directory.
        run: Record that receives the changes.
    """
    changes = Changes(request, instance, run)
    try:
        yield changes
    except AssayError as error:
        killed = changes.killed()
        _restore_anyway(changes)
        if killed is None:
            raise
        raise RunFailedError(f"{killed}: {error}") from error
    except BaseException:
        _restore_anyway(changes)
        raise
    changes.restore()


def _restore_anyway(changes: Changes) -> None:
    """Revert all host changes while another error is raised."""
    try:
        changes.restore()
    except RunFailedError as error:
        log.warning("%s", error)
