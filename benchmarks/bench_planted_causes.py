"""Are real causes named? Each is planted at three strengths, and a fourth time not at all.

What a cause really costs is measured without Assay: two servers with the same data, one of which
has the cause, are asked in turns by a plain client; its share of the time with the cause is the
planted effect, the median over rounds with the least and the largest. Then `assay run` is asked, as
a person would, and it is seen which of its findings names the cause, and at which rank among those
that tell causes. `weak` is below the noise and `none` is without it: there, nothing may name it.

    .venv/bin/python benchmarks/bench_planted_causes.py [--cause spill] [--strength weak] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.conftest import Lab, reachable_directory
from tests.planted.explained import explained
from tests.planted.naming import RANK_MAX, Naming, named
from tests.planted.outside import UnplantableError
from tests.planted.plants import SILENT, STRENGTHS, Plant, Strength, all_plants
from tests.planted.twins import Effect, effect

from assay.study.places import cache_dir


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cause", action="append", help="all by default")
    options.add_argument("--strength", action="append", choices=STRENGTHS, help="all by default")
    options.add_argument("--runs", type=int, default=3, help="of each cause at each strength")
    options.add_argument("--rounds", type=int, default=5, help="in which the effect is measured")
    options.add_argument("--keep", type=Path, help="where runs and figures are left")
    asked = options.parse_args()
    print(HEAD, flush=True)
    rows: list[Row] = []
    with laboratory(asked.keep) as lab:
        for plant in all_plants():
            if asked.cause and plant.name not in asked.cause:
                continue
            for strength in asked.strength or STRENGTHS:
                row = tried(lab, plant, strength, asked.rounds, asked.runs)
                print(row.text(), flush=True)
                rows.append(row)
    print(summary(rows))
    if asked.keep:
        told = [asdict(row) | {"right": row.right} for row in rows]
        (asked.keep / "planted-causes.json").write_text(json.dumps(told, indent=1))


HEAD = (
    f"{'cause':<18}{'strength':<9}{'planted effect':<24}{'others':<8}{'right':<7}{'ranks':<8}found"
)


@dataclass(frozen=True)
class Row:
    """A cause at a strength.

    Attributes:
        planted: What it costs; None where it is not planted.
        namings: One a run; None where nothing named it.
        others: Share of the machine's CPU time that neither engine nor Assay used; the runs' mean.
        skipped: Why it could not be planted here.
    """

    cause: str
    strength: Strength
    planted: Effect | None
    namings: tuple[Naming | None, ...]
    others: float = 0.0
    skipped: str | None = None

    @property
    def right(self) -> int:
        """Runs that named it in time; where silence is right, those that were silent."""
        if self.strength in SILENT:
            return sum(naming is None for naming in self.namings)
        return sum(naming is not None and naming.rank <= RANK_MAX for naming in self.namings)

    def text(self) -> str:
        begin = f"{self.cause:<18}{self.strength:<9}"
        if self.skipped is not None:
            return f"{begin}skipped: {self.skipped}"
        cost = "-" if self.planted is None else planted_text(self.planted)
        ranks = ",".join("-" if naming is None else str(naming.rank) for naming in self.namings)
        told = next((naming for naming in self.namings if naming), None)
        found = "silence" if told is None else f"{told.effect_share:.0%} {told.claim}"
        right = f"{self.right}/{len(self.namings)}"
        return f"{begin}{cost:<24}{self.others:<8.0%}{right:<7}{ranks:<8}{found}"


def planted_text(planted: Effect) -> str:
    least, largest = min(planted.shares), max(planted.shares)
    return f"{planted.share:.1%} ({least:.0%} to {largest:.0%})"


def tried(lab: Lab, plant: Plant, strength: Strength, rounds: int, runs: int) -> Row:
    try:
        planted = None if strength == "none" else effect(plant, strength, rounds)
        documents = [explained(lab, plant, strength) for _ in range(runs)]
    except UnplantableError as reason:
        return Row(plant.name, strength, None, (), skipped=str(reason))
    namings = tuple(named(plant, document["findings"]) for document in documents)
    return Row(plant.name, strength, planted, namings, statistics.fmean(map(others, documents)))


def others(document: dict[str, Any]) -> float:
    used = document["accounts"]
    return used["background_s"] / used["capacity_s"]


def summary(rows: Sequence[Row]) -> str:
    lines = []
    for strength in STRENGTHS:
        of = [row for row in rows if row.strength == strength and row.namings]
        whole = sum(len(row.namings) for row in of)
        if not whole:
            continue
        what = "silent" if strength in SILENT else f"named, at rank {RANK_MAX} or better"
        lines.append(f"{strength}: {sum(row.right for row in of)} of {whole} runs {what}")
    return "\n".join(lines)


@contextmanager
def laboratory(keep: Path | None) -> Iterator[Lab]:
    """Places of its own, with the cache that all runs share."""
    with reachable_directory() as root:
        (root / "cache").mkdir()
        cache_dir().mkdir(parents=True, exist_ok=True)
        (root / "cache" / "assay").symlink_to(cache_dir())
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (root / "runs").symlink_to(keep.absolute())
        with closing(Lab(root)) as lab:
            yield lab
            lab.assert_nothing_left()


if __name__ == "__main__":
    main()
