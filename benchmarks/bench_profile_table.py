"""From a record to the table of symbols: ours beside `perf report --stdio`.

Two recordings of the same run of TPC-H, one after the other, of the same length and frequency: a
profile by `assay run`, and `perf record -g` of all that a run without one starts. Both have about
`--samples` samples. Then each table is made, several times, by a new process, from a warm page
cache. `perf` finds names when it reports; ours were found when sampling ended, and the time that
took is told, too.

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
from assay.analysis.profile import read_profile
from assay.analysis.profile_tables import symbols_table
from assay.record.reader import Run

# High, so that a million samples take a minute and not an hour.
FREQUENCY_HZ = 9_999
# Of a run that tells how many samples a second there are.
TRIAL_S = 5.0
ASSAY = [sys.executable, "-m", "assay.cli.main"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", default="duckdb")
    options.add_argument("--scale", type=float, default=0.1)
    options.add_argument("--samples", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.table is not None:
        print(json.dumps(table(asked.table)))
        return
    perf.program()
    with tempfile.TemporaryDirectory() as place:
        run = [*ASSAY, "run", "tpch", "--engine", asked.engine, "--scale", str(asked.scale)]
        compare(Path(place), [*run, "--runs", f"{place}/runs"], asked.samples, asked.rounds)


def compare(place: Path, run: list[str], samples: int, rounds: int) -> None:
    data = place / "perf.data"
    rate = table(profiled(place, run, TRIAL_S))["samples"] / TRIAL_S
    seconds = samples / rate
    directory = profiled(place, run, seconds)
    record = [perf.program(), "record", "-F", str(FREQUENCY_HZ), "-g", "-o", str(data)]
    carry_out([*record, "--", *run], seconds)
    theirs = sum(perf.samples_by_symbol(data).values())
    ours_s, theirs_s = [], []
    for _ in range(rounds):
        made = made_by_a_new_process(directory)
        ours_s.append(made["seconds"])
        theirs_s.append(timed_report(data))
    print(
        f"assay  {made['samples']:>9} samples  {statistics.median(ours_s):7.2f} s  {made['rows']} symbols"
    )
    print(f"perf   {theirs:>9} samples  {statistics.median(theirs_s):7.2f} s")
    ratios = [
        peer / theirs / (own / made["samples"]) for peer, own in zip(theirs_s, ours_s, strict=True)
    ]
    print(
        f"per sample {statistics.median(ratios):.1f} times as fast ({min(ratios):.1f} to {max(ratios):.1f});"
        f" naming, once, took {naming_s(directory):.2f} s of sampling's end"
    )


def profiled(place: Path, run: list[str], seconds: float) -> Path:
    """A run with a profile."""
    carry_out([*run, "--profile", "--profile-hz", str(FREQUENCY_HZ)], seconds)
    return max((place / "runs").glob("*/run.json"), key=lambda file: file.stat().st_mtime).parent


def carry_out(command: list[str], seconds: float) -> None:
    whole = [*command, "--min-time", f"{seconds:.0f}s"]
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


def timed_report(data: Path) -> float:
    begun_s = time.perf_counter()
    subprocess.run(perf.report_command(data), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun_s


def naming_s(directory: Path) -> float:
    """From the last flush of the sampling to the end of the streams, by the clocks of the files."""
    last = directory / "raw/symbols.arrows", directory / "raw/samples.arrows"
    named_s, sampled_s = (path.stat().st_mtime for path in last)
    return max(0.0, named_s - sampled_s)


if __name__ == "__main__":
    main()
