"""Sums up the activity counters of Virtuoso's web server threads.

`db_activity` prints four digits. In a sum over hours, four digits are too coarse for one second or
one operation. Each sample therefore resets the server's figures and adds them to sums that all
readers of one server share. The sums are in a file beside the server, locked by one reader at a
time.
"""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from assay.analysis.counters.meters import WORDS, parse_activity
from assay.engines.virtuoso.connecting import file_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engines.bridge.link import Link

FILE = "activity"
_SUMS = struct.Struct(f"={len(WORDS)}d")


def read_activity(link: Link, file: Path) -> dict[str, float]:
    """Return activity counters of Virtuoso since the first sample, by name.

    Raises:
        BridgeError: If the server refuses; has its message.
        OSError: If the file of the sums cannot be written.
        ValueError: If the server's output is not a line of activity.
    """
    with _held(file) as held:
        before = held.read()
        sums = _SUMS.unpack(before) if len(before) == _SUMS.size else (0.0,) * len(WORDS)
        (line,) = link.ask(file_text("counters/http.sql")).column(0).to_pylist()
        activity = parse_activity(str(line))
        now = {word: earlier + activity[word] for word, earlier in zip(WORDS, sums, strict=True)}
        held.seek(0)
        held.write(_SUMS.pack(*now.values()))
    return now


@contextmanager
def _held(file: Path) -> Iterator[BinaryIO]:
    """Open a file, which is created if needed, for one reader at a time.

    A link that the server's user put in its place is not followed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(file, flags, 0o600)
    with os.fdopen(descriptor, "r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield held
