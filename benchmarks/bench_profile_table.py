"""From a record to the table of symbols: ours beside `perf report --stdio`.

Two recordings of the same run of TPC-H, one after the other, of the same length and frequency: a
profile by `assay run`, and `perf record -g` of all that a run without one starts. Both have about
`--samples` samples. Then each table is made, several times, by a new process, from a warm page
cache. `perf` finds names when it reports; ours were found when sampling ended, and the time that
took is told, too. Ours also says what each sample was doing, by its callers, and for which query;
the plain `perf report --stdio` makes a tree of callers of each symbol, and one without is beside it.

    .venv/bin/python benchmarks/bench_profile_table.py [--engine duckdb] [--scale 0.1] [--samples 1000000]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import perf  # benchmarks/perf.py
from assay.analysis.profile.samples import read_profile
from assay.analysis.profile.tables import symbols_table
from assay.record.reader import Run

ASSAY = [sys.executable, "-m", "assay.cli.main"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", default="duckdb")
    options.add_argument("--scale", type=float, default=0.1)
    options.add_argument("--samples", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument(
        "--trial",
        type=float,
        default=5.0,
        help="seconds of a run that tells how many samples a second there are",
    )
    options.add_argument(
        "--hz", type=int, default=9_999, help="high, so that a million samples take a minute"
    )
    options.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.table is not None:
        print(json.dumps(table(asked.table)))
        return
    perf.program()
    with tempfile.TemporaryDirectory() as place:
        run = [*ASSAY, "run", "tpch", "--engine", asked.engine, "--scale", str(asked.scale)]
        run += ["--runs", f"{place}/runs", "--no-plans"]
        rate = table(profiled(Path(place), run, asked.hz, asked.trial))["samples"] / asked.trial
        compare(Path(place), run, asked.hz, asked.samples / rate, asked.rounds)


def compare(place: Path, run: list[str], hz: int, seconds: float, rounds: int) -> None:
    data = place / "perf.data"
    directory = profiled(place, run, hz, seconds)
    record = [perf.program(), "record", "-F", str(hz), "-g", "-o", str(data)]
    carry_out([*record, "--", *run], seconds)
    theirs = sum(perf.samples_by_symbol(data).values())
    reports = {
        "perf report --stdio": [perf.program(), "report", "--stdio", "-i", str(data)],
        "perf, without callers": perf.report_command(data),
    }
    made = [made_by_a_new_process(directory) for _ in range(rounds)]
    ours_s = [made_table["seconds"] for made_table in made]
    samples, symbols = made[0]["samples"], made[0]["rows"]
    naming = f"{symbols} symbols; their names took {naming_s(directory):.2f} s when sampling ended"
    print(f"{'assay':<23}{samples:>9} samples {statistics.median(ours_s):7.2f} s  {naming}")
    for what, command in reports.items():
        theirs_s = [timed(command) for _ in range(rounds)]
        faster = statistics.median(theirs_s) / theirs / (statistics.median(ours_s) / samples)
        seconds = f"{statistics.median(theirs_s):7.2f} s"
        print(
            f"{what:<23}{theirs:>9} samples {seconds}  ours is {faster:.2f} times as fast a sample"
        )


def profiled(place: Path, run: list[str], hz: int, seconds: float) -> Path:
    """A run with a profile."""
    carry_out([*run, "--profile", "--profile-hz", str(hz)], seconds)
    return max((place / "runs").glob("*/run.json"), key=lambda file: file.stat().st_mtime).parent


def carry_out(command: list[str], seconds: float) -> None:
    whole = [*command, "--min-time", f"{seconds:.1f}s"]
    done = subprocess.run(whole, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(whole)} ended with {done.returncode}: {done.stderr}")


def made_by_a_new_process(directory: Path) -> dict[str, float]:
    """Seconds from the start of a process to the table, and how large it is."""
    begun_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--table", str(directory)],
        check=True,
        capture_output=True,
        text=True,
    )
    return {"seconds": time.perf_counter() - begun_s, **json.loads(done.stdout)}


def table(directory: Path) -> dict[str, int]:
    profile = read_profile(Run(directory))
    assert profile is not None
    return {"samples": profile.samples.height, "rows": symbols_table(profile).height}


def timed(command: list[str]) -> float:
    begun_s = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun_s


def naming_s(directory: Path) -> float:
    """From the last sample that was taken to the end of the streams."""
    run = Run(directory)
    ended_ns = (directory / "raw/symbols.arrows").stat().st_mtime_ns
    taken_ns = run.table("profile")["time_ns"].to_list()[-1]
    return (ended_ns - run.facts["wall_minus_monotonic_ns"] - taken_ns) / 1e9


if __name__ == "__main__":
    main()
