"""The kernel's own `perf` beside our sampler: recording, and what it makes of a recording."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from run import left_out  # benchmarks/run.py

FREQUENCY_HZ = 499
SEPARATOR = "\t"


def program() -> str:
    """Its path; ends the benchmark where there is none."""
    path = shutil.which("perf")
    if path is None:
        left_out(
            "perf is not installed, and is what this compares with: `sudo apt-get install"
            " linux-perf` (Debian), `linux-tools-generic` (Ubuntu) or `dnf install perf` (Fedora)."
        )
    return path


def family(pids: Sequence[int]) -> list[int]:
    """These processes and all their descendants."""
    relatives = list(pids)
    for pid in relatives:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            relatives += map(int, children.read_text().split())
    return relatives


def cpu_s(pids: Sequence[int]) -> float:
    """CPU seconds of these processes so far, with children that ended, in ticks of the kernel."""
    # Fields 14 to 17 of /proc/PID/stat (proc(5)); the name before them may hold anything.
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(sum(map(int, stat[11:15])) for stat in stats) / os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """CPU seconds that a sampler used itself; there when it has ended."""

    cpu_s: float = 0.0


@contextmanager
def recording(pids: Sequence[int] | None, data: Path, *options: str) -> Iterator[Cost]:
    """Records while the block lasts, and not before events are at work.

    `pids`: these processes, their descendants and those to come; None: the whole machine.
    """
    cost = Cost()
    followed = ["-a"] if pids is None else ["-p", ",".join(map(str, family(pids)))]
    to_perf, from_perf = os.pipe(), os.pipe()
    command = [program(), "record", "-F", str(FREQUENCY_HZ), *options, *followed]
    command += ["-o", str(data), "-D", "-1", f"--control=fd:{to_perf[0]},{from_perf[1]}"]
    with subprocess.Popen(
        command,
        pass_fds=(to_perf[0], from_perf[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as recorder:
        os.close(to_perf[0])
        os.close(from_perf[1])
        try:
            os.write(to_perf[1], b"enable\n")
            if not os.read(from_perf[0], 16):
                assert recorder.stderr is not None
                raise SystemExit(f"perf record ended: {recorder.stderr.read().decode().strip()}")
            yield cost
            # What it does when it ends is not part of the recording.
            cost.cpu_s = cpu_s([recorder.pid])
        finally:
            recorder.send_signal(signal.SIGINT)
            recorder.communicate()
            os.close(to_perf[1])
            os.close(from_perf[0])


def report_command(data: Path, fields: str = "sample,symbol") -> list[str]:
    """Samples of each symbol, or of what else is asked for, without callers, as text."""
    options = ["--stdio", "--no-children", "--no-inline", "-g", "none", "--percent-limit", "0"]
    shown = ["--fields", fields, "--field-separator", SEPARATOR]
    return [program(), "report", *options, *shown, "-i", str(data)]


def samples_by_symbol(data: Path, tids: Collection[int] | None = None) -> dict[str, int]:
    """Samples of each symbol; an address in hexadecimal where it knows none.

    `tids`: only those of these threads, which is what the program's field `pid` has. Its own filter
    hides a symbol that another process was first to have, so it is not used.
    """
    command = report_command(data, "sample,pid,symbol")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    counts: dict[str, int] = {}
    for line in done.stdout.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        # The third is missing where the address has no symbol and is not shown either.
        samples, thread, *symbols = line.split(SEPARATOR, 2)
        if not samples.strip():
            # The rest of a symbol whose name has several lines.
            continue
        if tids is None or int(thread.partition(":")[0]) in tids:
            # `[.]` and `[k]` before the name say whose it is.
            name = "".join(symbols).strip()[4:]
            counts[name] = counts.get(name, 0) + int(samples)
    return counts
