"""A sweep over clients on a real server: study, figure, article, going on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import POSTGRESQL, Lab

SWEEP = ["sweep", "tpcb", "--engine", POSTGRESQL, "--clients", "1,2,4", "--time", "3s"]
SWEEP += ["--warmup", "0s", "--no-plans", "--repeat", "1", "--durability", "none"]
STATEMENTS = 7


def rows(figure: dict[str, Any], table: str) -> list[dict[str, Any]]:
    found = next(one for one in figure["tables"] if one["name"] == table)
    heads = [column["name"] for column in found["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in found["rows"]]


def is_split(lab: Lab, run: dict[str, Any]) -> bool:
    """Whether the run itself says where the time of an operation went."""
    told = lab.document("show", run["run"])["operations"]
    return any(share is not None for one in told for share in one["where"].values())


def test_clients_are_swept_told_and_not_run_twice(server_lab: Lab) -> None:
    lab = server_lab
    document = lab.document(*SWEEP)
    (figure,) = document["figures"]
    assert figure["kind"] == "clients"
    assert len(document["runs"]) == 3
    told = rows(figure, "clients")
    assert [row["clients"] for row in told] == [1, 2, 4]
    for row in told:
        # Every statement of a transfer is counted; all clients update the one branch.
        assert row["statements"] == pytest.approx(STATEMENTS * row["operations"])
        assert row["failed"] == 0
    law = {row["quantity"] for row in rows(figure, "law")}
    assert {"contention (sigma)", "coherence (kappa)", "clients at the knee"} <= law
    said = " ".join(figure["says"])
    assert "what limits is " in said or "nothing limits" in said or "not measured" in said
    causes = {row["cause"] for row in rows(figure, "limits")}
    if all(is_split(lab, run) for run in document["runs"]):
        assert causes >= {"locks", "CPU", "log"}
    else:
        # On a busy machine looks can account for too much to be believed: nothing is made up.
        assert {"not measured"} <= causes <= {"conflicts", "commits", "not measured"}
    article = next((lab.runs / "studies").glob("*/article.html")).read_text()
    assert "Universal Scalability Law" in article
    assert "operations a second" in article

    again = lab.assay(*SWEEP)
    assert again.returncode == 0, again.stderr
    assert "all its runs are there, none is repeated" in again.stderr
    assert "by clients" in again.stdout
    lab.assert_nothing_left()
