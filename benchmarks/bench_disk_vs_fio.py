"""Our trials of a disk beside fio's: requests a second and CPU time a request, at every size.

Both read the same blocks of the same file with O_DIRECT, in turns: ours by the core that `assay
ceiling` uses, fio (from PATH, else unpacked from Debian's archive into the cache) with `psync`
one at a time, and with `io_uring`, registered buffers and file, where several are under way. A
ratio is ours over fio's, the geometric mean over rounds with its 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay import _core
from assay.analysis.ceiling.trials import Estimate, estimate
from assay.engines.providers.debian import DebianProvider
from assay.model.units import bytes_text, count_text, parse_bytes
from assay.running.host.places import cache_dir
from assay.study.ceiling.place import check_place

SIZES = [512 << power for power in range(13)]
PATTERNS = {"sequential": "read", "random": "randread"}
AIM = 0.10
NS = 1e-9


@dataclass(frozen=True)
class Kind:
    """One kind of reads."""

    size_bytes: int
    pattern: str
    depth: int


@dataclass(frozen=True)
class Seen:
    """What one side saw in one round."""

    iops: float
    cpu_s: float
    """CPU time of the threads that asked, a request."""


class Fio:
    """fio, wherever it is."""

    def __init__(self) -> None:
        self.program, self.env = _find_fio()
        ended = subprocess.run(
            [self.program, "--version"], env=self.env, capture_output=True, text=True, check=True
        )
        self.version = ended.stdout.strip()

    def read(self, file: Path, size_bytes: int, kind: Kind, time_s: float) -> Seen:
        """One run of fio on the file."""
        several = kind.depth > 1
        options = {
            "name": "reads",
            "filename": file,
            "size": size_bytes,
            "direct": 1,
            "rw": PATTERNS[kind.pattern],
            "bs": kind.size_bytes,
            "ioengine": "io_uring" if several else "psync",
            "iodepth": kind.depth,
            "runtime": f"{round(time_s * 1e3)}ms",
            "time_based": 1,
            "thread": 1,
            "norandommap": 1,
            "randrepeat": 0,
            "allow_file_create": 0,
            "invalidate": 0,
            "output-format": "json",
            **({"fixedbufs": 1, "registerfiles": 1} if several else {}),
        }
        command = [self.program, *(f"--{name}={value}" for name, value in options.items())]
        ended = subprocess.run(command, env=self.env, capture_output=True, text=True, check=True)
        (job,) = json.loads(ended.stdout)["jobs"]
        requests, seconds = job["read"]["total_ios"], job["read"]["runtime"] / 1e3
        cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
        return Seen(requests / seconds, cpu_s / requests)


def _find_fio() -> tuple[str, dict[str, str]]:
    """The program and the environment that finds its libraries."""
    if (program := shutil.which("fio")) is not None:
        return program, dict(os.environ)
    home = cache_dir() / "benchmarks" / "fio"
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            for file in DebianProvider().bring("fio", Path(place), lambda *_: None):
                extract = ["dpkg-deb", "--extract", str(file), f"{home}.partial"]
                subprocess.run(extract, check=True)
        Path(f"{home}.partial").rename(home)
    # Some libraries lie below the directory that others lie in.
    places = {library.parent for library in home.rglob("*.so.*")}
    path = ":".join(str(place) for place in sorted(places))
    return str(home / "usr/bin/fio"), {**os.environ, "LD_LIBRARY_PATH": path}


class Ours:
    """The core's trials, with the file that fio reads, too."""

    def __init__(self, directory: Path, size_bytes: int, raw: Path) -> None:
        self.raw = raw
        self.sweep = _core.CeilingSweep(raw, 1)
        before = descriptors()
        self.size_bytes = self.sweep.open(directory, size_bytes)["size_bytes"]
        # It has no name, but what reads it may go by ours of it.
        self.file = Path(f"/proc/{os.getpid()}/fd/{min(descriptors() - before)}")
        while self.sweep.fill(64 << 20) < self.size_bytes:
            pass

    def read(self, kind: Kind, time_s: float) -> Seen:
        """One trial."""
        trial = {
            "round": 1,
            "operation": "read",
            "pattern": kind.pattern,
            "cache": "direct",
            "method": "io_uring" if kind.depth > 1 else "pread",
            "depth": kind.depth,
            "size_bytes": kind.size_bytes,
            "time_ns": round(time_s / NS),
        }
        self.sweep.disk(json.dumps(trial))
        row = pl.read_ipc_stream(self.raw / "ceiling-disk.arrows").row(-1, named=True)
        cpu_ns = row["user_ns"] + row["system_ns"]
        made = row["requests"] + row["requests_outside"]
        return Seen(row["requests"] / (row["elapsed_ns"] * NS), cpu_ns * NS / made)


def descriptors() -> set[int]:
    """Numbers of the files that are open here."""
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


def turns(ours: Ours, fio: Fio, kind: Kind, rounds: int, time_s: float) -> list[tuple[Seen, Seen]]:
    """What both saw, round by round; who begins changes."""
    seen = []
    for number in range(rounds):
        if number % 2:
            mine = ours.read(kind, time_s)
            theirs = fio.read(ours.file, ours.size_bytes, kind, time_s)
        else:
            theirs = fio.read(ours.file, ours.size_bytes, kind, time_s)
            mine = ours.read(kind, time_s)
        seen.append((mine, theirs))
    return seen


def row(kind: Kind, seen: Sequence[tuple[Seen, Seen]]) -> tuple[str, Estimate]:
    """One line of the table, and the ratio of requests a second."""
    sides = [estimate(pair[side].iops for pair in seen) for side in (0, 1)]
    cpus = [estimate(pair[side].cpu_s for pair in seen) for side in (0, 1)]
    ratio = estimate(mine.iops / theirs.iops for mine, theirs in seen)
    cost = estimate(mine.cpu_s / theirs.cpu_s for mine, theirs in seen)
    assert ratio is not None
    assert cost is not None
    shown = [count_text(side.value) if side else "-" for side in sides]
    spent = [f"{side.value * 1e6:.1f}" if side else "-" for side in cpus]
    return (
        f"{bytes_text(kind.size_bytes):>8} {kind.pattern:<10} {kind.depth:>3}"
        f" {shown[0]:>8} {shown[1]:>8}  {between(ratio):<20}"
        f" {spent[0]:>7} {spent[1]:>7}  {between(cost)}"
    ), ratio


def between(ratio: Estimate) -> str:
    """A ratio with its interval."""
    if ratio.low is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def kinds(sizes: Sequence[int], depths: Sequence[int]) -> Iterator[Kind]:
    for depth in depths:
        for pattern in PATTERNS:
            for size in sizes:
                yield Kind(size, pattern, depth)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, default=Path.cwd(), help="on the disk to be read")
    parser.add_argument("--size", type=parse_bytes, default=2 << 30, help="of the file")
    parser.add_argument("--sizes", type=parse_bytes, nargs="+", default=SIZES, help="of requests")
    parser.add_argument("--depths", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--time", type=float, default=0.5, help="seconds of a turn")
    return parser.parse_args()


def main() -> None:
    """Prints a line a kind of reads, then how many ratios lie within the aim."""
    asked = arguments()
    check_place(asked.dir, asked.size)
    fio = Fio()
    print(f"{fio.version}; {asked.rounds} rounds in turns of {asked.time:g} s; ratios ours / fio")
    print("    size pattern    way    ours/s    fio/s  ratio                 CPU us     fio  ratio")
    ratios = []
    with tempfile.TemporaryDirectory() as raw:
        ours = Ours(asked.dir, asked.size, Path(raw))
        for kind in kinds(asked.sizes, asked.depths):
            line, ratio = row(kind, turns(ours, fio, kind, asked.rounds, asked.time))
            ratios.append(ratio)
            print(line, flush=True)
    within = sum(ratio.value >= 1 - AIM for ratio in ratios)
    sure = sum(ratio.high is not None and ratio.high < 1 - AIM for ratio in ratios)
    print(
        f"{within} of {len(ratios)} have {1 - AIM:.0%} of fio's rate or more;"
        f" of {sure} the interval is below that"
    )


if __name__ == "__main__":
    main()
