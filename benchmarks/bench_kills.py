"""Kills runs with `kill -9` at random instants, and counts what they leave.

Runs of several kinds are begun as a person would and killed at an instant between their beginning
and their usual end. Of each kill is asked: can the record be read, as far as there is one? Does it
hold all that was measured until a second before? Is anything left on the host: processes, servers,
shared memory, mounts, half a data set? Of a study also: does the same command go on and end well?

    .venv/bin/python benchmarks/bench_kills.py --kills 200 --keep DIR
    .venv/bin/python benchmarks/bench_kills.py --kind 'server*' --kills 20
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_planted_causes import laboratory
from tests.e2e.conftest import Lab

from assay.model.units import NS_PER_S
from assay.record.reader import Run
from assay.running.changes.left_behind import DATA
from assay.running.host.places import engines_dir

KILLS = 200
# Of what was measured so much may be missing before the kill.
LOST_MAX_S = 1.0
# Processes and servers of a killed run have so long to end.
GONE_WITHIN_S = 30.0
# Nothing is left if so many looks in a row find nothing.
QUIET_LOOKS = 3
POSTGRESQL = "postgresql@16"
LOAD = ("point-select", "--clients", "4", "--warmup", "1s", "--time", "3s")
SMALL = ("tpch", "--scale", "0.01", "--min-time", "2s")
# A readable record has a verdict: done, ended early, or invalid.
READABLE = (0, 2, 3)
# Exit code of a search for settings that found none that is faster.
NOTHING_FASTER = 5


@dataclass(frozen=True)
class Kind:
    """A kind of run that is killed.

    Attributes:
        name: What it is, in words.
        arguments: Of `assay`.
        goes_on: Whether the same command once more goes on and ends well.
        codes: Exit codes of a good end.
        installed: An engine that has to be installed before; None: a small one, or none.
    """

    name: str
    arguments: tuple[str, ...]
    goes_on: bool = False
    codes: tuple[int, ...] = (0,)
    installed: str | None = None


KINDS = (
    Kind("embedded, queries", ("run", *SMALL)),
    Kind("embedded, load", ("run", *LOAD, "--engine", "sqlite")),
    Kind("server, queries", ("run", *SMALL, "--engine", POSTGRESQL)),
    Kind("server, load", ("run", *LOAD, "--engine", POSTGRESQL)),
    Kind("server, profile", ("run", *LOAD, "--engine", POSTGRESQL, "--profile")),
    Kind("server, CPU limited", ("run", *LOAD, "--engine", POSTGRESQL, "--limit", "cpu=0.5")),
    Kind("fleet of two", ("run", *LOAD, "--engine", POSTGRESQL, "--fleet", "2")),
    Kind(
        "cold, device of its own",
        ("run", *SMALL, "--state", "cold", "--device", "own:1GB", "--allow-host-changes"),
    ),
    Kind(
        "study",
        ("sweep", "point-select", "--engine", "sqlite", "--clients", "1,2", "--time", "1s"),
        goes_on=True,
    ),
    Kind(
        "tune",
        ("tune", *SMALL, "--operation", "q01", "--knob", "threads=1..2", "--budget", "30s"),
        goes_on=True,
        codes=(0, NOTHING_FASTER),
    ),
    Kind(
        "diagnose, server",
        ("diagnose", *LOAD, "--engine", POSTGRESQL, "--budget", "30s"),
        goes_on=True,
    ),
    Kind(
        "cluster, queries",
        ("run", *SMALL, "--operation", "q06", "--no-plans", "--engine", "trino"),
        installed="trino",
    ),
)


@dataclass(frozen=True)
class Killed:
    """The state after one kill.

    Attributes:
        kind: Name of the kind.
        after_s: When it was killed, from its beginning.
        unreadable: What is wrong with its record; None: it can be read, or there is none yet.
        lost_s: What is missing of what was measured before the kill; None: nothing was measured.
        left: What was left on the host.
        stopped: What the same command said that did not go on; None: it did, or was not asked.
    """

    kind: str
    after_s: float
    unreadable: str | None = None
    lost_s: float | None = None
    left: tuple[str, ...] = ()
    stopped: str | None = None

    def is_right(self, lost_max_s: float = LOST_MAX_S) -> bool:
        """Return True if nothing is wrong, and no more than this is missing."""
        lost = self.lost_s is not None and self.lost_s > lost_max_s
        return not (self.unreadable or lost or self.left or self.stopped)

    def line(self) -> str:
        """In a line."""
        lost = "" if self.lost_s is None else f"{self.lost_s:5.2f} s lost"
        wrong = "; ".join(filter(None, (self.unreadable, *self.left, self.stopped)))
        return f"{self.kind:<26}{self.after_s:6.2f} s  {lost:<14}{wrong}"


def main() -> None:
    asked = _arguments()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    chance = random.Random(asked.seed)  # noqa: S311 - instants are no secret
    kinds = [kind for kind in KINDS if fnmatch(kind.name, asked.kind)]
    with laboratory(asked.keep) as lab:
        kills, left_out = campaign(lab, kinds, asked.kills, chance)
    print("", *table(kinds, kills, left_out), sep="\n")
    if asked.keep:
        rows = [asdict(kill) for kill in kills]
        (asked.keep / "kills.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    sys.exit(0 if kills and all(kill.is_right(asked.lost_max) for kill in kills) else 1)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=KILLS, help="over all kinds")
    options.add_argument("--kind", default="*", help="names, with * and ?")
    options.add_argument("--seed", type=int, default=1, help="of the instants")
    options.add_argument(
        "--lost-max", type=float, default=LOST_MAX_S, help="seconds that may be missing of a run"
    )
    options.add_argument("--keep", type=Path, help="where figures and runs are left")
    return options.parse_args()


def campaign(
    lab: Lab, kinds: Sequence[Kind], count: int, chance: random.Random
) -> tuple[list[Killed], dict[str, str]]:
    """Kill runs of these kinds in turns; what each left, and why kinds were left out."""
    usual_s: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for kind in kinds:
        if kind.installed and not (engines_dir() / kind.installed).is_dir():
            left_out[kind.name] = f"needs `assay engines install {kind.installed}`"
            continue
        begun_s = time.monotonic()
        ended = lab.assay(*kind.arguments)
        if ended.returncode in kind.codes:
            usual_s[kind.name] = time.monotonic() - begun_s
        else:
            left_out[kind.name] = ended.stderr.strip().splitlines()[-1]
    kills: list[Killed] = []
    while usual_s and len(kills) < count:
        for kind in kinds:
            if kind.name in usual_s and len(kills) < count:
                kills.append(killed(lab, kind, chance.uniform(0.0, usual_s[kind.name])))
                print(kills[-1].line(), flush=True)
    return kills, left_out


def killed(lab: Lab, kind: Kind, after_s: float) -> Killed:
    """Begin a run, kill it, and look at what it left."""
    before = set(lab.runs.glob("*/run.json"))
    # A study that is there would be shown and not run.
    again = ("--again",) if kind.goes_on else ()
    started = lab.begin(*kind.arguments, *again)
    time.sleep(after_s)
    ended_ns = time.monotonic_ns()
    started.send_signal(signal.SIGKILL)
    started.communicate()
    left = tuple(_left(lab))
    records = [path.parent for path in set(lab.runs.glob("*/run.json")) - before]
    unreadable = next(filter(None, (_unreadable(lab, record) for record in records)), None)
    lost = [_lost_s(record, ended_ns) for record in records if unreadable is None]
    stopped = _stopped(lab, kind) if kind.goes_on else None
    losses_s = [lost_s for lost_s in lost if lost_s is not None]
    return Killed(kind.name, after_s, unreadable, max(losses_s, default=None), left, stopped)


def _left(lab: Lab) -> list[str]:
    """Return processes and other things that are still there after their time to go."""
    begun_s, quiet = time.monotonic(), 0
    while True:
        processes = [f"process {pid} ({_command(pid)})" for pid in lab.strays()]
        # Half a data set stays until the next run, which makes it anew.
        things = lab.left_behind(DATA)
        # A process that hands over to its child while the list is read is in none of both places.
        quiet = 0 if processes or things else quiet + 1
        late_s = time.monotonic() - begun_s
        if quiet == QUIET_LOOKS or late_s >= GONE_WITHIN_S:
            return [*(f"{process} after {late_s:.1f} s" for process in processes), *things]
        time.sleep(0.1)


def _command(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def _unreadable(lab: Lab, record: Path) -> str | None:
    shown = lab.assay("show", record.name, "--json")
    if shown.returncode not in READABLE or "Traceback" in shown.stderr:
        return f"{record.name}: {shown.stderr.strip()[-120:]}"
    try:
        json.loads(shown.stdout)
    except ValueError as error:
        return f"{record.name}: {error}"
    return None


def _lost_s(record: Path, killed_ns: int) -> float | None:
    """How long before the kill the last finished operation is, less the longest of them.

    If the load had ended before the kill, its end counts: nothing more was measured.
    """
    run = Run(record)
    if run.complete or not run.has("events"):
        return None
    events = run.table("events")
    if events.is_empty() or events["phase"].cast(str)[-1] not in ("warmup", "measured"):
        return None
    longest_ns = (events["finished_ns"] - events["started_ns"]).max()
    measured_ns = min(killed_ns, _load_ended_ns(run, events["started_ns"].min()))
    since_ns = measured_ns - events["finished_ns"].max() - longest_ns
    return max(0.0, since_ns / NS_PER_S)


def _load_ended_ns(run: Run, begun_ns: int) -> int:
    """Return when the load had ended, by the driver's report, else by its planned time."""
    report = run.dir / "raw" / "driver.json"
    if report.exists():
        phases = json.loads(report.read_text(encoding="utf-8"))["phases"]
        return max(phase["ended_ns"] for phase in phases)
    asked = run.facts["request"]
    return begun_ns + round((asked["warmup_s"] + asked["time_s"]) * NS_PER_S)


def _stopped(lab: Lab, kind: Kind) -> str | None:
    """Why the same command did not go on; None: it did."""
    ended = lab.assay(*kind.arguments)
    return (
        None if ended.returncode in kind.codes else f"did not go on: {ended.stderr.strip()[-120:]}"
    )


def table(
    kinds: Sequence[Kind], kills: Sequence[Killed], left_out: dict[str, str]
) -> Iterator[str]:
    """Yield a line a kind, as a table of Markdown."""
    yield "| kind | kills | record readable | at most 1 s lost | nothing left | goes on |"
    yield "|---|---|---|---|---|---|"
    for kind in kinds:
        of_kind = [kill for kill in kills if kill.kind == kind.name]
        if kind.name in left_out:
            yield f"| {kind.name} | not measured: {left_out[kind.name]} | | | | |"
            continue
        lost = [kill.lost_s for kill in of_kind if kill.lost_s is not None]
        counts = (
            len(of_kind),
            sum(kill.unreadable is None for kill in of_kind),
            f"{sum(lost_s <= LOST_MAX_S for lost_s in lost)} of {len(lost)}",
            sum(not kill.left for kill in of_kind),
            sum(kill.stopped is None for kill in of_kind) if kind.goes_on else "",
        )
        yield f"| {kind.name} | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    main()
