"""Takes snapshots of the data's own device while an engine writes to it.

A snapshot of a device shares all blocks with the device's file. XFS makes a snapshot under the lock
of direct writes, after current writes have ended. Each write is therefore completely in the
snapshot or not at all. A write's presence implies all writes that ended before it began. A snapshot
lacks data that are only in the host's page cache, as after a power failure.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import random
import shutil
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.errors import RunFailedError
from assay.model.units import bytes_text
from assay.running.changes.device import (
    BELOW,
    EXT4,
    MOUNT_POINT,
    SPARE_BYTES,
    attach,
    detaching,
    image_of,
    unmounting,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from assay.running.changes.ledger import Ledger

COPY = "copy"
# <linux/fs.h>: _IOW(0x94, 9, int)
FICLONE = 0x40049409
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Copy:
    """A snapshot of the data's device, with its time.

    Attributes:
        number: Number of the snapshot, from 0.
        began_ns: CLOCK_MONOTONIC just before the snapshot.
        ended_ns: CLOCK_MONOTONIC just after the snapshot.
    """

    number: int
    began_ns: int
    ended_ns: int


def moments_s(seed: int, copies: int, time_s: float) -> list[float]:
    """Return the random times of snapshots, in seconds after the measured part's start.

    Each time is random within one of equal parts of the measured time.
    """
    drawn = random.Random(f"copies {seed}")  # noqa: S311 - moments, not a secret
    return [(number + drawn.random()) * time_s / copies for number in range(copies)]


class Copies:
    """The snapshots of one run's data device."""

    def __init__(self, instance: Path, moments: Sequence[float], ledger: Ledger) -> None:
        self.taken: list[Copy] = []
        self._image = image_of(instance, copied=True)
        self._below = instance / BELOW
        self._mount_point = instance / MOUNT_POINT
        self._instance = instance
        self._moments = moments
        self._ledger = ledger
        self._leave = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None

    def settle(self) -> None:
        """Flush all pending data to the device, so that snapshots test only later writes."""
        descriptor = os.open(self._mount_point, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if _LIBC.syncfs(descriptor) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(self._mount_point))
        finally:
            os.close(descriptor)

    def begin(self, begun_s: float) -> None:
        """Start taking device snapshots from the given start of the measured part."""
        if self._thread is not None:
            return
        name = "assay-copies"
        self._thread = threading.Thread(target=self._take_all, args=(begun_s,), name=name)
        self._thread.start()

    def end(self) -> None:
        """Stop taking device snapshots."""
        self._leave.set()
        if self._thread is not None:
            self._thread.join()

    def check(self) -> None:
        """Raise `RunFailedError` if a device snapshot was not taken."""
        if self._failure is not None:
            raise RunFailedError(f"a snapshot of the device could not be taken: {self._failure}")
        if len(self.taken) < len(self._moments):
            raise RunFailedError(
                f"the load ended after {len(self.taken)} of {len(self._moments)} snapshots: use "
                "a longer --time, or fewer --copies"
            )

    @contextmanager
    def opened(self, copy: Copy) -> Iterator[None]:
        """Mount a device snapshot in place of the data's device during the block.

        Raises:
            NotMountedError: If the snapshot has no file system.
            RunFailedError: If the snapshot cannot be opened.
        """
        what = f"copy {copy.number} of the device of our own"
        journal, image = self._ledger.journal, self._image_of(copy.number)
        self._close_device()
        try:
            with self._ledger.locked():
                attach(image, self._mount_point, self._ledger, what, EXT4)
            yield
        finally:
            with self._ledger.locked():
                for step in (unmounting(self._mount_point, what), detaching(image, what)):
                    if step in journal.steps:
                        journal.take_back(step)
            image.unlink()

    def _close_device(self) -> None:
        """Unmount the data's device, or the previous snapshot of it."""
        journal = self._ledger.journal
        with self._ledger.locked():
            for step in reversed(journal.steps.copy()):
                if (step.do, step.path) == ("unmount", str(self._mount_point)):
                    journal.take_back(step)

    def _take_all(self, begun_s: float) -> None:
        try:
            for number, moment in enumerate(self._moments):
                if self._leave.wait(max(0.0, begun_s + moment - time.monotonic())):
                    return
                self._check_room()
                self.taken.append(self._take(number))
        except (OSError, RunFailedError) as failure:
            self._failure = failure

    def _take(self, number: int) -> Copy:
        target = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        device = os.open(self._image, os.O_RDONLY | os.O_CLOEXEC)
        try:
            copied = os.open(self._image_of(number), target, 0o600)
            try:
                began_ns = time.monotonic_ns()
                fcntl.ioctl(copied, FICLONE, device)
                return Copy(number, began_ns, time.monotonic_ns())
            finally:
                os.close(copied)
        finally:
            os.close(device)

    def _image_of(self, number: int) -> Path:
        return self._below / f"copy-{number}.img"

    def _check_room(self) -> None:
        """Check that the disk has space for writes after a snapshot."""
        free_bytes = shutil.disk_usage(self._instance).free
        needed_bytes = self._image.stat().st_size + SPARE_BYTES
        if free_bytes < needed_bytes:
            raise RunFailedError(
                f"snapshots need {bytes_text(needed_bytes)} below {self._instance.parent}, "
                f"where {bytes_text(free_bytes)} are free: free some space, use fewer --copies, "
                "or a smaller device (--device own:SIZE)"
            )
