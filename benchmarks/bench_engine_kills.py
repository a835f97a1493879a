"""Kills engines under load with `kill -9`, and has a disk lie: acknowledged, lost, recovery.

Each engine plays TPC-C, is killed at instants that are drawn, recovered on its data, and asked for
every order that it had acknowledged. Then each engine runs on a disk that
ignores flushes but reports them as done: a copy of the device must lack acknowledged orders. Each
server also runs on an honest disk of the same kind, whose copy must lack none. With `--copies`, the
device of each engine is copied at so many instants with full durability, and once with each weaker
level, which may lose orders.

    .venv/bin/python benchmarks/bench_engine_kills.py --kills 50
    .venv/bin/python benchmarks/bench_engine_kills.py --engine sqlite --kills 5
    .venv/bin/python benchmarks/bench_engine_kills.py --engine mariadb --kills 0 --copies 50
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_planted_causes import laboratory
from tests.e2e.conftest import Lab, reachable_directory
from tests.lying_disk import lying_disk, programs_on_such_a_disk, why_no_lies

from assay.running.changes.device import why_not

KILLS = 50
ENGINES = ("postgresql@16", "mariadb", "mysql", "sqlite")
LOAD = ("--durability", "full", "--clients", "2", "--between", "500ms-1500ms")
EMBEDDED = "sqlite"
WITH_SUCH_DISKS = ("postgresql", "mariadb", "mysql", "dolt", EMBEDDED)
NO_SUCH_DISK = "no lying disk was made for this engine"
COPIED = ("--kills", "0", "--allow-host-changes", *LOAD[2:4])
COPIES, COPIES_SMOKE = 2, 1
LYING, HONEST = "a lying disk", "an honest disk"
FULL, WEAKER = "full", ("relaxed", "none")
# Done, and done with something lost.
LOST_NOTHING, LOST_SOME = 0, 3
# Maximum seconds of loading, and of one kill with its recovery, on a busy host.
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Losses:
    """Transactions that an engine acknowledged, and those of them that were lost.

    Attributes:
        times: How often it was killed, or its device copied.
        acknowledged, lost: Orders, over all times.
        recovery: From the engine's start until it answered, in words.
    """

    name: str
    times: int
    acknowledged: int
    lost: int
    recovery: str

    @property
    def is_right(self) -> bool:
        """Whether nothing was lost, and something on a disk that lies.

        A level of durability below full may lose orders, and need not.
        """
        if self.name.endswith(WEAKER):
            return self.acknowledged > 0
        return self.acknowledged > 0 and (self.lost > 0) == self.name.endswith(LYING)

    def line(self) -> str:
        """Return the row of the table."""
        figures = (self.times, f"{self.acknowledged:,}", f"{self.lost:,}", self.recovery)
        return f"| {self.name} | {' | '.join(map(str, figures))} |"


def main() -> None:
    asked = _arguments()
    kills, on_disks = (1, COPIES_SMOKE) if asked.smoke else (asked.kills, COPIES)
    with laboratory(asked.keep) as lab:
        rows, left_out = campaign(lab, asked.engine or ENGINES, kills, on_disks, asked.copies)
    print("", *table(rows, left_out), sep="\n")
    sys.exit(0 if rows and all(row.is_right for row in rows) else 1)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=KILLS, help="of each engine; 0: only disks")
    options.add_argument(
        "--copies", type=int, default=0, help="of each engine's device with full durability"
    )
    options.add_argument("--engine", action="append", help="only this one; can be repeated")
    options.add_argument("--keep", type=Path, help="where the runs are left")
    options.add_argument("--smoke", action="store_true", help="one kill and one copy of each")
    return options.parse_args()


def campaign(
    lab: Lab, engines: Sequence[str], kills: int, on_disks: int, copies: int
) -> tuple[list[Losses], dict[str, str]]:
    """Kill each engine and copy its disk so often; what was lost, and why engines were left out.

    Args:
        lab: Where the runs are made.
        engines: Names of engines, with or without a version.
        kills: Kills of each engine.
        on_disks: Copies of its lying disk, and of its honest one.
        copies: Copies of its device with full durability.
    """
    rows: list[Losses] = []
    left_out: dict[str, str] = {}
    for engine in engines if kills else ():
        killed = ("--engine", engine, "--kills", str(kills), *LOAD)
        _note(rows, left_out, engine, _losses(lab, engine, killed, kills))
    why = why_not(copied=True)
    for engine in engines:
        for kind in (LYING, HONEST) if engine != EMBEDDED else (LYING,):
            name, of_disk = f"{engine}, {kind}", why or why_no_lies() or _why_no_disk(engine)
            _note(rows, left_out, name, of_disk or _losses_of_disk(lab, engine, name, on_disks))
    for engine in engines if copies else ():
        for level in (FULL, *WEAKER):
            name = f"{engine}, copied, {level}"
            times = copies if level == FULL else 1
            copied = ("--engine", engine, "--durability", level, *COPIED, "--copies", str(times))
            _note(rows, left_out, name, why or _losses(lab, name, copied, times))
    return rows, left_out


def _why_no_disk(engine: str) -> str | None:
    """Why an engine has no lying disk; None: it has one."""
    return None if engine.partition("@")[0] in WITH_SUCH_DISKS else NO_SUCH_DISK


def _losses_of_disk(lab: Lab, engine: str, name: str, copies: int) -> Losses | str:
    """Return the losses of an engine on a disk of the kind in the name, in copies of the device."""
    lies = name.endswith(LYING)
    copied = (*COPIED, "--durability", FULL, "--copies", str(copies))
    with reachable_directory() as folder:
        if engine == EMBEDDED:
            with_lies = replace(lab, extra_env=lab.extra_env | lying_disk(folder))
            return _losses(with_lies, name, ("--engine", engine, *copied), copies)
        product, _, version = engine.partition("@")
        programs = programs_on_such_a_disk(product, folder, version=version or None, lies=lies)
        asked = ("--engine", product, "--bin-dir", str(programs), *copied)
        return _losses(lab, name, asked, copies)


def _note(rows: list[Losses], left_out: dict[str, str], name: str, losses: Losses | str) -> None:
    """Add an engine's row, or why it has none, and print it."""
    if isinstance(losses, str):
        left_out[name] = losses
    else:
        rows.append(losses)
    print(losses if isinstance(losses, str) else losses.line(), flush=True)


def _losses(lab: Lab, name: str, asked: Sequence[str], times: int) -> Losses | str:
    """Return the losses of one engine, or the reason why they are not known."""
    patience_s = PATIENCE_S * (1 + times)
    given = ("durability", "tpcc", *asked, "--again", "--json")
    ended = lab.assay(*given, patience_s=patience_s)
    if ended.returncode not in (LOST_NOTHING, LOST_SOME):
        return ended.stderr.strip().splitlines()[-1]
    sums = json.loads(ended.stdout)["figures"][0]["tables"][0]
    names = [column["name"] for column in sums["columns"]]
    (row,) = [dict(zip(names, row, strict=True)) for row in sums["rows"]]
    return Losses(name, row["times"], row["acked"], row["lost"], _seconds(row))


def _seconds(row: dict[str, Any]) -> str:
    """How long recovery took: the median, the shortest and the longest."""
    if row["recovery"] is None:
        return "did not answer"
    return f"{row['recovery']:.2f} s ({row['min']:.2f} to {row['max']:.2f})"


def table(rows: Sequence[Losses], left_out: dict[str, str]) -> Iterator[str]:
    """Yield a line an engine, as a table of Markdown."""
    yield "| engine | kills or copies | acknowledged | lost | recovery |"
    yield "|---|---|---|---|---|"
    yield from (row.line() for row in rows)
    yield from (f"| {name} | not measured: {why} | | | |" for name, why in left_out.items())


if __name__ == "__main__":
    main()
