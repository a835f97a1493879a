"""Three predictions of `assay whatif`, carried out: what was predicted, what was measured, the error.

halve    TPC-H's q15 and q17 do a part of their work twice; sharing it is said to halve them. Their
         rewritten queries (whatif/operations/) stand beside them in the same passes.
cores    A run on one core predicts two, and a run on two predicts one. A core is a CPU that the
         engine is pinned to; DuckDB has two threads on both.
spill    PostgreSQL with hardly any memory for sorts and hashes (whatif/memory/): what taking away the
         kernel's work on files and the waiting for disks would give, against enough memory, for
         every query in the same passes.

Every run is a run of `assay run`, whose answers are checked. Sides take turns, and each round turns
their order around. A figure is the median over the rounds; its 95 % interval is a bootstrap over
rounds. The error is the predicted metric over the measured one, less 1. Cores that others use are no
cores: `--others-max 0.1` leaves out rounds by what others used of the machine, whatever came out.

    .venv/bin/python benchmarks/bench_whatif.py [--only halve] [--engine duckdb] [--scale 0.1] [--rounds 7]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import assay.workloads
from assay.analysis.summarise import summarise
from assay.analysis.whatif import measured_of, predict
from assay.analysis.whatif.changes import RemoveWait, RemoveWork, ScaleOperation, SetCores
from assay.analysis.whatif.metrics import metrics_of
from assay.analysis.whatif.prediction import Prediction
from assay.analysis.whatif.resampling import NO_RESAMPLES
from assay.analysis.whatif.timing import Measured
from assay.record.reader import Run
from assay.running.host.places import engines_dir

ASSAY = [sys.executable, "-m", "assay.cli.main"]
FILES = Path(__file__).parent / "whatif"
SHARED = {"q15": "q15-shared", "q17": "q17-shared"}
METRICS = ("total_seconds", "geometric_mean_seconds", "composite_per_h")
RESAMPLES = 2_000
# So many times the rounds are begun at most where many of them have to be left out.
TRIES = 5
# On one core and on two. An embedded engine shares its client's process, and takes its threads from the cores.
SIDES = {
    "duckdb": [["--pin", f"client={cpus}", "--set", "threads=2"] for cpus in ("0", "0,1")],
    "postgresql": [["--pin", f"engine={cpus}"] for cpus in ("0", "0,1")],
}


@dataclass(frozen=True)
class Trial:
    """One round: changes as shares, by what changes, and how much of the machine others used."""

    predicted: dict[str, float]
    least: dict[str, float]
    most: dict[str, float]
    measured: dict[str, float]
    background_share: float


@dataclass(frozen=True)
class Bench:
    """What is asked for, and where its runs are kept."""

    place: Path
    scale: float
    rounds: int
    min_time: str
    others_max: float

    def run(self, workload: str, engine: str, *options: str) -> Measured:
        """One run, with right answers."""
        asked = [workload, "--engine", engine, "--scale", f"{self.scale:g}", *options]
        command = [*ASSAY, "run", *asked, "--min-time", self.min_time, "--json"]
        places = {"XDG_CACHE_HOME": f"{self.place}/cache", "ASSAY_RUNS": f"{self.place}/runs"}
        done = subprocess.run(
            command, env=os.environ | places, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        (answers,) = (check for check in document["checks"] if check["check"] == "answers")
        assert answers["verdict"] == "valid", answers
        run = Run(Path(document["path"]))
        return measured_of(run, summarise(run))

    def pairs(
        self, workload: str, engine: str, sides: Sequence[Sequence[str]]
    ) -> Iterator[list[Measured]]:
        """Rounds of one run a side, in the order of the sides; every other round begins with the last."""
        taken = 0
        for number in range(TRIES * self.rounds):
            turns = list(range(len(sides)))[:: -1 if number % 2 else 1]
            made = {side: self.run(workload, engine, *sides[side]) for side in turns}
            others = max(measured.background_share or 0.0 for measured in made.values())
            print(f"    round {number + 1}: others {others:.0%}", file=sys.stderr, flush=True)
            if others > self.others_max:
                continue
            yield [made[side] for side in range(len(sides))]
            taken += 1
            if taken == self.rounds:
                return


def main() -> None:
    benches: dict[str, tuple[Callable[[Bench, str], None], list[str]]] = {
        "halve": (halve, ["duckdb", "postgresql"]),
        "cores": (cores, ["duckdb", "postgresql"]),
        "spill": (spill, ["postgresql"]),
    }
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--only", action="append", choices=list(benches))
    options.add_argument(
        "--engine", action="append", help="where there is a choice [default: both]"
    )
    options.add_argument("--scale", type=float, default=0.1)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--min-time", default="5s", help="of each run")
    options.add_argument(
        "--others-max",
        type=float,
        default=1.0,
        help="rounds in which others used a larger share of the machine are left out",
    )
    asked = options.parse_args()
    with places() as place:
        bench = Bench(place, asked.scale, asked.rounds, asked.min_time, asked.others_max)
        for name in asked.only or benches:
            carry_out, engines = benches[name]
            for engine in engines:
                if engine.partition("@")[0] in [
                    wanted.partition("@")[0] for wanted in asked.engine or engines
                ]:
                    carry_out(bench, engine)


@contextmanager
def places() -> Iterator[Path]:
    """A place for data and runs that a server's user reaches, with the engines that are there already."""
    with tempfile.TemporaryDirectory(prefix="assay-whatif-", dir="/var/tmp") as place:
        Path(place).chmod(0o755)
        cache = Path(place, "cache", "assay")
        cache.mkdir(parents=True)
        engines_dir().mkdir(parents=True, exist_ok=True)
        (cache / "engines").symlink_to(engines_dir())
        yield Path(place)


def halve(bench: Bench, engine: str) -> None:
    """q15 and q17 in half the time, against their rewritten queries in the same passes."""
    workload = with_twins(bench.place / f"halve-{engine}" / "tpch", SHARED)
    for path in (FILES / "operations").glob("*.sql"):
        shutil.copy(path, workload / "operations")
    trials = []
    for (measured,) in bench.pairs(str(workload), engine, [[]]):
        alone, rewritten = sides_of(measured, SHARED)
        changes = [ScaleOperation(name, 0.5) for name in SHARED]
        trials.append(trial(alone, rewritten, predict(alone, changes, NO_RESAMPLES), list(SHARED)))
    print_trials(f"{engine}: q15 and q17 halved", trials)


def with_twins(folder: Path, twins: Mapping[str, str]) -> Path:
    """TPC-H with a second operation behind each that has one, and with the same answers."""
    shutil.copytree(Path(assay.workloads.__path__[0]) / "tpch", folder)
    for answers in (folder / "answers").glob("sf*"):
        for name, twin in twins.items():
            shutil.copy(answers / f"{name}.csv", answers / f"{twin}.csv")
    manifest = folder / "workload.toml"
    text = manifest.read_text(encoding="utf-8")
    # Orders of several streams, and refreshes, are of the specification's 22 alone.
    text = re.sub(r"(?ms)^\[(streams|refresh)\b.*?(?=^\[|\Z)", "", text)
    for name, twin in twins.items():
        section = "".join(re.findall(rf"(?ms)^\[operations\.{name}\b.*?(?=^\[|\Z)", text))
        assert section
        # The first place that names it is the order; in the sequences no other may move.
        text = text.replace(f'"{name}",', f'"{name}", "{twin}",', 1)
        text = re.sub(r"(?s)(sequences = \[.*?)\]", rf'\1  "{twin}",\n]', text, count=1)
        text += "\n" + section.replace(f"[operations.{name}", f"[operations.{twin}")
    manifest.write_text(text, encoding="utf-8")
    return folder


def sides_of(measured: Measured, twins: Mapping[str, str]) -> tuple[Measured, Measured]:
    """A run without the twins, and the same with each twin in the place of its operation."""
    both = {op.name: op for op in measured.operations}
    alone = [op for op in measured.operations if op.name not in twins.values()]
    other = [both[twins.get(op.name, op.name)] for op in alone]
    return replace(measured, operations=tuple(alone)), replace(measured, operations=tuple(other))


def cores(bench: Bench, engine: str) -> None:
    """From one core to two, and from two to one."""
    sides = SIDES[engine.partition("@")[0]]
    up, down = [], []
    for one_core, two_cores in bench.pairs("tpch", engine, sides):
        up.append(trial(one_core, two_cores, predict(one_core, [SetCores(2)], NO_RESAMPLES)))
        down.append(trial(two_cores, one_core, predict(two_cores, [SetCores(1)], NO_RESAMPLES)))
    print_trials(f"{engine}: one core predicts two", up)
    print_trials(f"{engine}: two cores predict one", down)


def spill(bench: Bench, engine: str) -> None:
    """Hardly any memory for sorts and hashes, against enough, in the same passes."""
    queries = sorted(
        path.stem
        for path in (Path(assay.workloads.__path__[0]) / "tpch" / "operations").glob("q??.sql")
    )
    twins = {name: f"{name}-much" for name in queries}
    workload = with_twins(bench.place / f"spill-{engine}" / "tpch", twins)
    little, much, end = (
        (FILES / "memory" / f"{name}.sql").read_text(encoding="utf-8")
        for name in ("little", "much", "end")
    )
    for name, twin in twins.items():
        path = workload / "operations" / f"{name}.sql"
        query = path.read_text(encoding="utf-8")
        path.write_text(little + query + end, encoding="utf-8")
        path.with_name(f"{twin}.sql").write_text(much + query + end, encoding="utf-8")
    trials = []
    for (measured,) in bench.pairs(str(workload), engine, [["--profile"]]):
        before, after = sides_of(measured, twins)
        waits = [RemoveWait(name) for name in ("disk_read", "disk_write", "disk")]
        causes = {name for op in before.operations for name in op.thread_s or {}}
        changes = [RemoveWork("kernel I/O"), *(wait for wait in waits if wait.cause in causes)]
        trials.append(trial(before, after, predict(before, changes, NO_RESAMPLES)))
    print_trials(
        f"{engine}: no kernel work on files and no waiting for disks, with hardly any memory",
        trials,
    )


def trial(
    before: Measured, after: Measured, prediction: Prediction, operations: Sequence[str] = ()
) -> Trial:
    """Predicted and measured changes of the metrics, and of some operations."""
    # Both runs have the order of their workload; a rewritten query stands where the old one stood.
    times = [op.seconds for op in before.operations], [op.seconds for op in after.operations]
    measured = {
        metric.name: metric.of(times[1]) / metric.of(times[0]) - 1
        for metric in metrics_of(before)
        if metric.name in METRICS
    }
    shown = [effect for effect in prediction.metrics if effect.metric.name in METRICS]
    predicted = {effect.metric.name: effect.change or 0.0 for effect in shown}
    least = {effect.metric.name: effect.change_least or 0.0 for effect in shown}
    most = {effect.metric.name: effect.change_most or 0.0 for effect in shown}
    for name in operations:
        place = before.names.index(name)
        measured[name] = times[1][place] / times[0][place] - 1
        (operation_effect,) = (op for op in prediction.operations if op.name == name)
        predicted[name] = operation_effect.after_s / operation_effect.before_s - 1
        least[name], most[name] = (
            operation_effect.least_s / operation_effect.before_s - 1,
            operation_effect.most_s / operation_effect.before_s - 1,
        )
    background = max(before.background_share or 0.0, after.background_share or 0.0)
    return Trial(predicted, least, most, measured, background)


def print_trials(title: str, trials: Sequence[Trial]) -> None:
    if not trials:
        print(f"{title}: no round, others used too much of the machine in all of them")
        return
    others = [f"{tried.background_share:.0%}" for tried in trials]
    print(f"{title} ({len(trials)} rounds, others used {' '.join(others)} of the CPU time)")
    print(
        f"  {'':<24}{'predicted':>10} {'model leaves open':>21} {'measured':>10} {'95 %':>20} {'error':>10}"
    )
    for name in trials[0].predicted:
        predicted = statistics.median(tried.predicted[name] for tried in trials)
        ends = [
            statistics.median(getattr(tried, end)[name] for tried in trials)
            for end in ("least", "most")
        ]
        measured = statistics.median(tried.measured[name] for tried in trials)
        low, high = interval([tried.measured[name] for tried in trials])
        error = statistics.median(
            (1 + tried.predicted[name]) / (1 + tried.measured[name]) - 1 for tried in trials
        )
        print(
            f"  {name:<24}{predicted:>+10.1%} {f'{ends[0]:+.1%} to {ends[1]:+.1%}':>21} {measured:>+10.1%}"
            f" {f'{low:+.1%} to {high:+.1%}':>20} {error:>+10.1%}",
            flush=True,
        )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Of the median, by the percentile bootstrap (Efron and Tibshirani, 1993, 13.3)."""
    drawn = random.Random(1)  # noqa: S311 - nothing is to be kept secret
    medians = sorted(
        statistics.median(drawn.choices(values, k=len(values))) for _ in range(RESAMPLES)
    )
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


if __name__ == "__main__":
    main()
