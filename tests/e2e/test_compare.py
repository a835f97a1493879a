"""Two settings of a real server beside each other: the planted cause is named, nothing is left."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import POSTGRESQL, Lab

COMPARE = ["compare", "point-select", "--engine", POSTGRESQL, "--time", "500ms", "--warmup", "0s"]
# Without its index a row is found by reading all of them. Two rounds leave even that within noise
# beside other load: Student's factor is 12.7, and 4.3 for three.
COMPARE += ["--b", "enable_indexscan=off", "--b", "enable_bitmapscan=off", "--repeat", "3"]


def rows(figure: dict[str, Any], table: str) -> list[dict[str, Any]]:
    chosen = next(candidate for candidate in figure["tables"] if candidate["name"] == table)
    heads = [column["name"] for column in chosen["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in chosen["rows"]]


def test_a_plan_without_its_index_explains_the_difference(server_lab: Lab) -> None:
    lab = server_lab
    document = lab.document(*COMPARE)
    (figure,) = document["figures"]
    assert (figure["kind"], len(document["runs"])) == ("compare", 6)
    slower = "enable_indexscan=off enable_bitmapscan=off"
    assert figure["subjects"] == [POSTGRESQL, slower]
    whole = next(row for row in rows(figure, "ratios") if row["of"] == "a transaction")
    assert whole["ratio"] > 1.0
    gain = {row["cause"]: row for row in rows(figure, "gain")}
    parts = sum(row["seconds"] for cause, row in gain.items() if cause != "all of it")
    assert abs(parts - gain["all of it"]["seconds"]) < 1e-9
    assert gain["plan"]["share"] > 0.5
    assert any("is read by scan, not by index scan" in row["says"] for row in rows(figure, "plans"))
    assert ("enable_indexscan", "off") in {
        (row["setting"], row[slower]) for row in rows(figure, "settings")
    }
    page = next((lab.runs / "studies").glob("*/article.html")).read_text()
    assert "what explains the difference" in page

    again = lab.assay(*COMPARE)
    assert again.returncode == 0, again.stderr
    assert "all its runs are there, none is repeated" in again.stderr
    assert "How much of the difference each change explains" in again.stdout
    assert max(map(len, again.stdout.splitlines())) <= 80 + len(str(lab.runs)) + 80
    lab.assert_nothing_left()


def test_without_an_engine_of_a_side_nothing_is_run(lab: Lab) -> None:
    ended = lab.assay(*COMPARE[:2], "--engine", "dolt@9.9.9", "--engine", "sqlite", "--time", "1s")
    assert ended.returncode == 1
    assert "Dolt 9.9.9 is not available. Available: @" in ended.stderr
    assert not any(lab.runs.glob("*"))
