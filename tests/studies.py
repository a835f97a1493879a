"""Writes studies with their runs: two engines in full tests, states, settings and samples."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.analysis.study_runs import StudyRun
from assay.model.verdict import CheckResult, Verdict
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.studies import PUBLISHED_FILE, write_study
from assay.record.writer import write_json
from tests.records import write_run
from tests.specified import PlayedTest, even_times, write_test

STUDY = "20261120T110000000Z-study-times-abc123"
TITLES = {"duckdb": "DuckDB", "postgresql": "PostgreSQL"}
RIGHT = CheckResult("answers", Verdict.VALID, "all answers right")
WRONG = CheckResult("answers", Verdict.INVALID, "wrong answer: q03 has 2 rows and not 3")
PUBLISHED = """
[article]
series = "Tests of a <test>"
author = "A. Writer"
about = "What one stream leaves unused."

[conditions]
engine = "virtuoso"
engine_title = "Virtuoso 7"
scale = 100
cores = 24
streams = 5

[[figures]]
name = "utilisation"
section = "Gains"
says = "A power test uses four fifths."
reasons = ["More threads leave more of them unused."]
[figures.values]
power_seconds = { value = 42, unit = "s" }
elapsed_seconds = { value = 165, unit = "s" }
streams = { value = 5, unit = "count" }
share = { value = 0.8, unit = "share", printed = "4/5" }

[[figures]]
name = "states"
[figures.values]
hot = { value = 42, unit = "s" }
os-warm = { value = 70, unit = "s" }
cold = { value = 120, unit = "s" }

[[figures]]
name = "numa"
section = "Gains"
says = "A process a socket gains a fifth."

[[derived]]
name = "utilisation"
figure = "utilisation"
analysis = "utilised_share"
value = 0.8
unit = "share"
printed = "4/5"
within = 0.02
[derived.inputs]
power_s = "utilisation.power_seconds"
elapsed_s = "utilisation.elapsed_seconds"
streams = "utilisation.streams"
"""


@dataclass
class MadeStudy:
    """A study that is being written.

    Attributes:
        runs: Directory of the runs.
        parts: By name the variants, each with its levels.
        asked: Entries of its runs.
    """

    runs: Path
    parts: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    studied: list[StudyRun] = field(default_factory=list)

    def add(
        self,
        part: str,
        levels: dict[str, str],
        directory: Path,
        number: int = 1,
        check: CheckResult = RIGHT,
    ) -> StudyRun:
        """Puts a written run into a part, under the levels that it is of."""
        variant = ", ".join(levels.values()) or part
        self.parts.setdefault(part, {})[variant] = levels
        name = f"{directory.name}-{len(self.asked):06d}"
        place = self.runs / name
        shutil.move(directory, place)
        facts = json.loads((place / "run.json").read_text("utf-8"))
        engine, _, version = levels.get("engine", "duckdb").partition("@")
        facts["id"] = name
        facts["engine"] |= {"name": engine, "title": TITLES[engine]}
        facts["engine"] |= {"version": version} if version else {}
        facts["request"]["engine"] = engine
        if "state" in levels:
            facts["state"] = state(levels["state"])
        write_json(place / "run.json", facts)
        write_seal(place)
        entry = {"part": part, "variant": variant, "round": number, "seconds": 30.0}
        self.asked.append(entry | {"id": name, "status": "complete"})
        self.studied.append(StudyRun(part, levels, number, Run(place), (check,)))
        return self.studied[-1]

    def failed(self, part: str, levels: dict[str, str], reason: str) -> None:
        """A run that was tried and has no record."""
        variant = ", ".join(levels.values())
        self.parts.setdefault(part, {})[variant] = levels
        entry = {"part": part, "variant": variant, "round": 1}
        self.asked.append(entry | {"status": "failed", "reason": reason})

    def write(self, figures: list[dict[str, Any]], published: str | None = None) -> Path:
        """Writes the study's own record and returns its directory."""
        directory = self.runs / "studies" / STUDY
        document = {
            "schema": 2,
            "question": "How much of the machine does one stream use?",
            "title": "One stream & several",
            "seed": 1,
            "about": {"made_by": "assay study", "study": "times"},
            "parts": [
                {
                    "name": name,
                    "about": f"What {name} is for.",
                    "repetitions": max(run["round"] for run in self.asked if run["part"] == name),
                    "variants": [
                        {"name": variant, "levels": levels, "request": {"workload": "tpch"}}
                        for variant, levels in variants.items()
                    ],
                }
                for name, variants in self.parts.items()
            ],
            "figures": figures,
            "status": "complete",
            "runs": self.asked,
        }
        write_study(directory, document)
        if published is not None:
            (directory / PUBLISHED_FILE).write_text(published, encoding="utf-8")
        return directory


def state(asked: str) -> dict[str, Any]:
    """`state` of run.json."""
    return {
        "asked": asked,
        "passes": None,
        "how": [],
        "left": ["programs stayed in memory"] if asked == "cold" else [],
        "host_changes": [],
        "data_bytes": 1000,
        "resident_bytes_before_start": 0 if asked == "cold" else 1000,
    }


def figure(kind: str, part: str, name: str | None = None, **options: Any) -> dict[str, Any]:
    """A figure as a study's record has it."""
    return {
        "name": name or kind,
        "parts": [part],
        "kind": kind,
        "title": f"About {name or kind}",
        "options": options,
    }


def full_test(place: Path, slower: float = 1.0, **more: Any) -> Path:
    """A run of a full test whose operations take so many times as long."""
    times = {name: seconds * slower for name, seconds in even_times().items()}
    return write_test(place, PlayedTest(seconds=times, **more))


def two_engines(runs: Path) -> MadeStudy:
    """Full tests of two engines, the second of which is twice as slow."""
    made = MadeStudy(runs)
    for name, slower in (("duckdb", 1.0), ("postgresql", 2.0)):
        made.add("full", {"engine": name}, full_test(runs / "made", slower))
    return made


def three_states(made: MadeStudy) -> MadeStudy:
    """A power test in each state: cold takes twice as long as hot."""
    for name, slower in (("cold", 2.0), ("os-warm", 1.5), ("hot", 1.0)):
        times = {query: seconds * slower for query, seconds in even_times().items()}
        played = write_test(made.runs / "made", PlayedTest(kind="power", seconds=times))
        made.add("states", {"state": name}, played)
    return made


def two_rounds(made: MadeStudy) -> MadeStudy:
    """Passes of three queries by threads, two rounds of each, the second a little faster."""
    for number in (1, 2):
        for threads in ("1", "2"):
            run = write_run(made.runs / "made")
            events = run / "raw" / "events.arrows"
            shortened(events, (1.0 if threads == "1" else 0.5) * (1 - 0.02 * (number - 1)))
            made.add("threads", {"set.threads": threads}, run, number)
    return made


def shortened(events: Path, factor: float) -> None:
    import polars as pl

    from tests.conftest import write_stream

    table = pl.read_ipc_stream(events)
    took = ((pl.col("finished_ns") - pl.col("started_ns")) * factor).cast(pl.Int64)
    rows = table.with_columns((pl.col("started_ns") + took).alias("finished_ns"))
    events.unlink()
    write_stream(events, rows.to_dicts())


def whole_study(runs: Path) -> Path:
    """A study of several kinds of figures beside an article, with one run that failed."""
    made = two_rounds(three_states(two_engines(runs)))
    made.failed("full", {"engine": "virtuoso"}, "its files could not be had")
    figures = [
        figure("composite", "full"),
        figure("utilisation", "full"),
        figure("states", "states"),
        figure("sweep", "threads", "threads"),
        figure("operations", "full"),
    ]
    return made.write(figures, PUBLISHED)
