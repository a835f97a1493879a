"""Flips bits of a record, and has every command that reads records read it.

A bit of one small record is flipped, in each of its files in turns. `assay show`, `report`, `export`
and `explain` may call the record damaged, with exit code 1 or 3. They may not end well, and none may
end with a traceback.

    .venv/bin/python benchmarks/bench_damaged_records.py --flips 500
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.faults.test_flipped_bits import DAMAGED, UNREADABLE, flips
from tests.records import write_run

from assay.cli.main import run_command

FLIPS = 500
VERBS = (("show",), ("report",), ("explain",), ("export", "--to", "csv", "--out", "out"))
RIGHT = {DAMAGED: "damaged", UNREADABLE: "cannot be read"}
WRONG = "wrong"


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        counts, faults = campaign(write_run(Path(folder)), asked.flips, asked.seed)
    print("", *faults, "", *table(asked.flips, counts), sep="\n")
    sys.exit(1 if faults else 0)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--flips", type=int, default=FLIPS, help="over all files")
    options.add_argument("--seed", type=int, default=1, help="of the bits")
    return options.parse_args()


def campaign(record: Path, count: int, seed: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Flip so many bits; how each verb ended how often, and what was wrong."""
    counts: Counter[tuple[str, str]] = Counter()
    faults: list[str] = []
    for number, path in enumerate(flips(record, count, seed)):
        # Each reads the record itself, and nothing that another one derived from it.
        verb = VERBS[number % len(VERBS)]
        shutil.rmtree(record / "derived", ignore_errors=True)
        code, stderr = _carried_out([verb[0], str(record), *verb[1:]])
        is_right = code in RIGHT and "Traceback" not in stderr and "panicked" not in stderr
        counts[verb[0], RIGHT[code] if is_right else WRONG] += 1
        if not is_right:
            faults.append(f"{verb[0]}, a bit of {path.name}: {code}: {stderr.strip()[-160:]}")
            print(faults[-1], flush=True)
    return counts, faults


def _carried_out(arguments: list[str]) -> tuple[int, str]:
    """Exit code of a command, and what it said on stderr."""
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        code = run_command(arguments)
    return code, err.getvalue()


def table(count: int, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield a line a verb, as a table of Markdown."""
    yield f"| of {count} flipped bits | called damaged | cannot be read | wrong |"
    yield "|---|---|---|---|"
    for verb, *_ in VERBS:
        ends = [counts[verb, word] for word in (*RIGHT.values(), WRONG)]
        yield f"| `assay {verb}` | {' | '.join(map(str, ends))} |"


if __name__ == "__main__":
    main()
