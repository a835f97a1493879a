"""The server's own program: computes, reads and sleeps as it is told, and says how long each took.

Run by path, with the standard library only, as a user who may read nothing else.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

PAGE_BYTES = 8192
FILL_BYTES = 1 << 20
# Time on a CPU, time ready for one, and how often it had one.
QUEUED = Path("/proc/thread-self/schedstat")


def main() -> None:
    """Serves one client at a time until it is told to end."""
    place, path, size_bytes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    file = place / "pages"
    if not file.exists() or file.stat().st_size != size_bytes:
        filled(file, size_bytes)
    pages = os.open(file, os.O_RDONLY | os.O_DIRECT)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        while True:
            client, _ = listening.accept()
            with client, client.makefile("rw") as lines:
                for line in lines:
                    lines.write(json.dumps(spent(json.loads(line), pages, size_bytes)) + "\n")
                    lines.flush()


def filled(file: Path, size_bytes: int) -> None:
    """Writes a file that no disk can shorten, and waits until it is there."""
    with file.open("wb") as writing:
        for _ in range(size_bytes // FILL_BYTES):
            writing.write(os.urandom(FILL_BYTES))
        writing.flush()
        os.fsync(writing.fileno())


def spent(asked: dict[str, float], pages: int, size_bytes: int) -> dict[str, float]:
    """Seconds: `cpu_s` on a CPU, `disk_s` waiting for reads, `sleep_s` asleep as asked.

    Time that it was ready and had no CPU is in none of them.
    """
    slices = int(asked.get("slices", 1))
    reads = [int(asked.get("reads", 0) * (n + 1) / slices) for n in range(slices)]
    drawn, buffer = random.Random(1), mmap.mmap(-1, PAGE_BYTES)
    cpu_began, disk, slept, done = time.thread_time(), 0.0, 0.0, 0
    for until in reads:
        computed(asked.get("cpu_ms", 0) / 1000 / slices)
        began = off_cpu()
        for _ in range(until - done):
            os.preadv(pages, [buffer], drawn.randrange(size_bytes // PAGE_BYTES) * PAGE_BYTES)
        done = until
        read = off_cpu()
        if asked.get("sleep_ms"):
            time.sleep(asked["sleep_ms"] / 1000 / slices)
        disk, slept = disk + read - began, slept + off_cpu() - read
    return {"cpu_s": time.thread_time() - cpu_began, "disk_s": disk, "sleep_s": slept}


def off_cpu() -> float:
    """Seconds that this thread was neither on a CPU nor ready for one, from some moment on."""
    queued_ns = int(QUEUED.read_text("ascii").split()[1])
    return time.monotonic() - time.thread_time() - queued_ns / 1e9


def computed(seconds: float) -> None:
    """Keeps a CPU busy until this thread had so many seconds of it."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(500))


main()
