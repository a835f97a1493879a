"""The study of TPC-C on Dolt's versions: what it asks for, and the article's values beside it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import assay
from assay.analysis.figures.loads import multiples, transactions
from assay.analysis.figures.queries import statements
from assay.analysis.published.facts import read_published
from assay.cli.main import app
from assay.running.asked.request import RunRequest
from assay.study.declared.expanding import Expanded, Wanted, expanded
from assay.study.declared.reading import find_declared
from assay.workloads.discovery import find_workload

FOLDER = Path(assay.__file__).parent / "studies" / "tpcc-dolt"
PUBLISHED = read_published(FOLDER / "published.toml")
STUDY = tomllib.loads((FOLDER / "study.toml").read_text(encoding="utf-8"))
STATEMENTS = find_workload(str(FOLDER / "workload")).facts.order
# Of versions that cannot be had, an aim, and what no engine tells.
ALONE = {
    "transactions": {"tps_before", "latency_before"},
    "multiples": {"one-client_before", "target"},
    "statements": {"join_before"},
    "text": {"by-name_before", "by-name_columns_before"},
    "rules": {"rules", "rules_before"},
}


def expanded_study(**wanted: Any) -> Expanded:
    return expanded(find_declared("tpcc-dolt"), Wanted(**wanted))


def requests(expansion: Expanded) -> list[RunRequest]:
    order = expansion.study.order()
    return [run.request for run in order if isinstance(run.request, RunRequest)]


def keys_of(figure: dict[str, Any]) -> set[str]:
    """Keys that the measures of a figure can have."""
    if figure["kind"] == "transactions":
        fixed = (transactions.PER_S, transactions.LATENCY, transactions.RATE)
        return {*fixed, transactions.RATIO, transactions.LATER}
    if figure["kind"] == "multiples":
        return {name + end for name in figure["parts"] for end in ("", multiples.ALIKE)}
    if figure["kind"] == "clients":
        return {"most tps", "most qps"}
    names = STATEMENTS
    ends = ("", statements.RATIO, statements.READ, statements.GAIN)
    wide = {f"{name}{statements.PRUNED}" for name in figure["options"]["wide"]}
    return {name + end for name in names for end in ends} | wide


def test_values_of_the_article_are_of_measures_of_ours_or_known_to_be_alone() -> None:
    asked = {figure["name"]: figure for figure in STUDY["figure"]}
    for facts in PUBLISHED.figures:
        keys = set(facts.measures()) - ALONE.get(facts.name, set())
        if keys:
            assert keys <= keys_of(asked[facts.name])


def test_statements_that_figures_name_are_in_the_workload() -> None:
    names = set(STATEMENTS)
    for figure in STUDY["figure"]:
        options = figure.get("options", {})
        if figure["name"] in ("statements", "text"):
            assert set(options.get("statements", ())) <= names
            assert {*options["wide"], *options["wide"].values()} <= names


def test_every_figure_of_the_article_says_why_ours_may_differ() -> None:
    assert [figure.name for figure in PUBLISHED.figures if not figure.reasons] == []
    assert [figure.name for figure in PUBLISHED.figures if not figure.section] == []


def test_commits_of_all_engines_survive_alike() -> None:
    assert {request.durability for request in requests(expanded_study())} == {"full"}


def test_the_short_form_has_one_round_of_every_part() -> None:
    short = expanded_study(quick=True)
    assert not short.without
    assert {part.repetitions for part in short.study.parts} == {1}
    assert len(requests(short)) <= 30
    assert short.budget_s is not None
    assert short.budget_s < 12 * 60


@pytest.mark.parametrize("quick", [True, False])
def test_a_strangers_engine_takes_the_place_of_ours_in_every_part(quick: bool) -> None:
    expansion = expanded_study(quick=quick, engines=("sqlite", "mysql"))
    assert {request.engine for request in requests(expansion)} == {"sqlite", "mysql"}
    for part in expansion.study.parts:
        of_part = {
            variant.request.engine
            for variant in part.variants
            if isinstance(variant.request, RunRequest)
        }
        assert of_part == {"sqlite", "mysql"}


def test_a_strangers_workload_takes_the_place_of_the_mix() -> None:
    expansion = expanded_study(workload="tpcb", quick=True)
    workloads = {
        part.name: {
            variant.request.workload
            for variant in part.variants
            if isinstance(variant.request, RunRequest)
        }
        for part in expansion.study.parts
    }
    assert workloads["one-client"] == workloads["clients"] == workloads["writes"] == {"tpcb"}
    # Its own statements are asked as before.
    assert workloads["statements"] == {str(FOLDER / "workload")}


def test_it_is_told_before_it_is_run() -> None:
    shown = CliRunner().invoke(app, ["studies", "show", "tpcc-dolt", "--json"])
    forms = json.loads(shown.stdout)["forms"]
    assert set(forms) == {"whole", "quick"}
