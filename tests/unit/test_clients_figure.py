"""The figure `clients` on loads whose throughput is a law's, to the operation."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.sweep.scalability import Law
from assay.report.study.charts import charts_of
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.records import MS, S, write_run
from tests.studies import MadeStudy
from tests.unit.test_wasted_work import attempt

LAW = Law(1000.0, 0.1, 0.02)
LEVELS = (1, 2, 4, 8, 16)


def load(path: Path, clients: int, law: Law = LAW, failing: int = 0) -> Path:
    """A second of a load; each of so many operations was made again once, for half of its time."""
    count = round(law.throughput(clients))
    service_ns = S * clients // count
    events = [
        an_operation(n, n * S // count, 0, service_ns, operation="update", retries=int(n < failing))
        for n in range(count)
    ]
    directory = write_load(path, closed(clients), events, 1.0)
    half_ms = service_ns // 2 // MS
    if failing:
        rows = [attempt(n, 0, half_ms, statements=5) for n in range(failing)]
        write_stream(directory / "raw" / "attempts.arrows", rows)
    return directory


def swept(path: Path, levels: tuple[int, ...] = LEVELS, rounds: int = 1, **more: Any) -> MadeStudy:
    made = MadeStudy(path)
    for number in range(1, rounds + 1):
        for clients in levels:
            run_levels = {"engine": "postgresql", "clients": str(clients)}
            made.add("sweep", run_levels, load(path / "made", clients, **more), number)
    return made


def figure(made: MadeStudy, **options: Any) -> Figure:
    return make(Asked("clients", "clients", "clients", tuple(made.studied), options))


def rows(made_figure: Figure, table: str) -> list[dict[str, Any]]:
    candidate = next(
        result_table for result_table in made_figure.tables if result_table.name == table
    )
    heads = [column.name for column in candidate.columns]
    return [dict(zip(heads, row, strict=True)) for row in candidate.rows]


def test_the_law_and_its_knee_are_found_in_records(tmp_path: Path) -> None:
    made_figure = figure(swept(tmp_path))
    assert made_figure.subjects == ("PostgreSQL",)
    law = {row["quantity"]: row["value"] for row in rows(made_figure, "law") if row["of"] == "tps"}
    assert law["one client, a second"] == pytest.approx(1000, rel=0.01)
    assert law["contention (sigma)"] == pytest.approx(0.1, rel=0.05)
    assert law["coherence (kappa)"] == pytest.approx(0.02, rel=0.05)
    assert law["clients at the knee"] == pytest.approx(LAW.knee_at(), rel=0.02)
    assert law["clients at the most"] == pytest.approx(LAW.most_at(), rel=0.02)
    assert made_figure.says[0].startswith("PostgreSQL: 1,000/s with 1 client")
    assert "only " in made_figure.says[0]
    assert f"the knee is at {LAW.knee_at():.1f} clients" in made_figure.says[0]
    assert [chart.name for chart in made_figure.charts] == ["tps", "qps", "p50", "p99", "wasted"]
    by_key = {measure.key: measure for measure in made_figure.measures}
    assert by_key["4 tps"].values["PostgreSQL"].middle == pytest.approx(LAW.throughput(4), rel=0.01)
    assert by_key["4 tps"].at == 4.0
    # Nothing was made again, and no client's time was split: that is said, too.
    assert "what for was not measured; most in update" in made_figure.says[1]


def test_no_knee_in_the_range_is_said(tmp_path: Path) -> None:
    made_figure = figure(swept(tmp_path, (1, 2, 4), law=Law(1000.0, 0.02, 0.0)))
    assert "no knee in the range, up to 4 clients" in made_figure.says[0]
    assert any(
        "3 numbers of clients are few for a law of 3" in sentence for sentence in made_figure.notes
    )


def test_two_numbers_of_clients_have_no_law(tmp_path: Path) -> None:
    made_figure = figure(swept(tmp_path, (1, 4)))
    assert "PostgreSQL: the law of 2 numbers of clients; it takes at least 3" in made_figure.missing
    assert "law" not in {table.name for table in made_figure.tables}


def test_work_in_vain_is_told_and_limits(tmp_path: Path) -> None:
    made = MadeStudy(tmp_path)
    for clients in (1, 2, 8):
        levels = {"engine": "postgresql", "clients": str(clients)}
        law = Law(1000.0, 1.0, 0.0)
        made.add("sweep", levels, load(tmp_path / "made", clients, law, 900 * (clients == 8)))
    made_figure = figure(made)
    said = " ".join(made_figure.says)
    assert "what limits is conflicts, whose attempts fail and are made again: 45 %" in said
    assert "most in update" in said
    # 1,000 operations of one statement, and five in each of 900 attempts.
    assert "operations a second grow to 0.99 times and statements to 5.5 times" in said
    last = rows(made_figure, "clients")[-1]
    assert (last["clients"], last["statements"]) == (8, pytest.approx(5500, rel=0.01))
    assert last["wasted"] == pytest.approx(0.45, abs=0.01)
    assert {row["cause"] for row in rows(made_figure, "limits")} == {
        "conflicts",
        "not measured",
    }


def test_rounds_have_a_spread_and_intervals(tmp_path: Path) -> None:
    made = swept(tmp_path, (1, 2, 4, 8), rounds=2)
    made_figure = figure(made)
    of_rounds = rows(made_figure, "rounds")
    assert {row["rounds"] for row in of_rounds} == {2}
    knee = next(row for row in rows(made_figure, "law") if row["quantity"] == "clients at the knee")
    assert knee["at least"] <= knee["value"] <= knee["at most"]
    drawn = {row["drawn"] for row in rows(made_figure, "curves: tps")}
    assert drawn == {"line", "point"}


def test_a_band_without_end_leaves_the_points_to_be_seen(tmp_path: Path) -> None:
    made = MadeStudy(tmp_path)
    for clients, done in ((1, 900), (2, 2000), (4, 950), (8, 1500)):
        levels = {"engine": "postgresql", "clients": str(clients)}
        made.add("sweep", levels, load(tmp_path / "made", clients, Law(done / clients, 0.0, 0.0)))
    document = asdict(figure(made)) | {"article": None}
    spec = charts_of(document)["clients-tps"].to_dict()
    tops = {
        layer["encoding"]["y"]["scale"]["domain"][1]
        for layer in spec["layer"]
        if "scale" in layer["encoding"]["y"]
    }
    assert len(tops) == 1
    assert 2000 < tops.pop() < 4000
    assert "the law is off by" in document["says"][0]


def test_two_versions_of_an_engine_have_names_of_their_own(tmp_path: Path) -> None:
    made = swept(tmp_path, (1, 2))
    for study in made.studied:
        study.run.facts["engine"]["version"] = "18.6"
    other = swept(tmp_path / "other", (1, 2))
    for study in other.studied:
        study.run.facts["engine"]["version"] = "16.4"
    runs = [
        *(
            replace(study_run, levels={**study_run.levels, "engine": "postgresql@18"})
            for study_run in made.studied
        ),
        *(
            replace(study_run, levels={**study_run.levels, "engine": "postgresql@16"})
            for study_run in other.studied
        ),
    ]
    made_figure = make(Asked("clients", "clients", "clients", tuple(runs), {}))
    assert made_figure.subjects == ("PostgreSQL 18.6", "PostgreSQL 16.4")


def test_a_run_that_is_no_load_is_said(tmp_path: Path) -> None:
    made = swept(tmp_path, (1, 2))
    made.add("sweep", {"engine": "duckdb", "clients": "4"}, write_run(tmp_path / "made"))
    made_figure = figure(made)
    assert any("is no load of clients" in sentence for sentence in made_figure.missing)
    assert made_figure.subjects == ("PostgreSQL",)
