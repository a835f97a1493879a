"""The article of a study: its document, its text, its tables, and what it says it lacks."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.record.studies import read_study
from assay.report.study.build import build_study
from assay.report.study.charts import chart_rows
from assay.report.study.document import study_document
from assay.report.study.markdown import escaped, markdown_lines
from assay.report.study.terminal import _grid, article_lines
from assay.report.study.words import bound
from tests.schemas import STUDY_SCHEMA, validator
from tests.studies import PUBLISHED, MadeStudy, figure, two_engines, whole_study
from tests.unit.test_profile_terminal import assert_golden

WIDTH = 80


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_study(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def whole_document(study: Path) -> dict[str, Any]:
    return build_study(study)


def figure_named(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(made_figure for made_figure in document["figures"] if made_figure["name"] == name)


class TestDocument:
    def test_is_as_its_schema_says(self, whole_document: dict[str, Any]) -> None:
        validator(STUDY_SCHEMA).validate(json.loads(json.dumps(whole_document)))

    def test_the_kept_one_is_the_same(self, study: Path, whole_document: dict[str, Any]) -> None:
        assert json.loads((study / "article.json").read_text("utf-8")) == json.loads(
            json.dumps(whole_document)
        )

    def test_runs_stand_in_the_order_of_the_study(self, whole_document: dict[str, Any]) -> None:
        assert [(run["part"], run["variant"], run["round"]) for run in whole_document["runs"]][
            -4:
        ] == [
            ("threads", "1", 1),
            ("threads", "1", 2),
            ("threads", "2", 1),
            ("threads", "2", 2),
        ]

    def test_the_article_stands_beside_by_the_names_of_figures(
        self, whole_document: dict[str, Any]
    ) -> None:
        of_article = figure_named(whole_document, "utilisation")["article"]
        share = next(
            compared_row
            for compared_row in of_article["compared"]
            if compared_row["key"] == "share"
        )
        assert share["printed"] == "4/5"
        assert set(share["ours"]) == {"DuckDB", "PostgreSQL"}
        assert of_article["derived"][0]["agrees"]
        assert of_article["reasons"][0] == "More threads leave more of them unused."
        assert of_article["reasons"][1].startswith("What differs, too: 24 hardware threads there")
        assert figure_named(whole_document, "composite")["article"] is None

    def test_what_is_not_shown_has_its_reason(self, whole_document: dict[str, Any]) -> None:
        lacking = {gap["what"]: gap["why"] for gap in whole_document["not_shown"]}
        assert lacking["1 run (full: virtuoso, round 1)"] == "its files could not be had"
        assert lacking["Gains: A process a socket gains a fifth"] == "the study has no figure of it"

    def test_a_run_that_is_gone_is_said_to_be(self, tmp_path: Path) -> None:
        made = two_engines(tmp_path)
        directory = made.write([figure("composite", "full")])
        shutil.rmtree(made.studied[0].run.dir)
        document = study_document(read_study(directory))
        validator(STUDY_SCHEMA).validate(json.loads(json.dumps(document)))
        assert figure_named(document, "composite")["subjects"] == ["PostgreSQL"]
        assert any(made.studied[0].run.id in gap["what"] for gap in document["not_shown"])

    def test_a_study_without_runs_has_a_document_and_says_so(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.failed("full", {"engine": "virtuoso"}, "its files could not be had")
        document = build_study(made.write([figure("composite", "full")], PUBLISHED))
        validator(STUDY_SCHEMA).validate(json.loads(json.dumps(document)))
        assert document["verdict"] == "unknown"
        assert figure_named(document, "composite")["missing"] == [
            "none of its runs was made: its files could not be had"
        ]

    def test_figures_of_an_article_that_cannot_be_read_are_none(self, tmp_path: Path) -> None:
        directory = two_engines(tmp_path).write([figure("composite", "full")], "[article\n")
        document = study_document(read_study(directory))
        assert document["article"] is None
        assert any(gap["what"] == "the article's figures" for gap in document["not_shown"])


class TestText:
    def test_terminal(self, whole_document: dict[str, Any]) -> None:
        assert_golden("study.txt", article_lines(whole_document | {"report": None}, WIDTH))

    def test_terminal_with_everything(self, whole_document: dict[str, Any]) -> None:
        lines = list(article_lines(whole_document, WIDTH, whole=True))
        assert any("What differs, too" in line for line in lines)
        assert any("seconds of each operation" in line for line in lines)
        assert all(len(line) <= WIDTH for line in lines if not line.startswith("Article"))

    def test_heads_of_several_words_give_way_before_cells_do(self) -> None:
        size = {"unit": "words", "digits": 0}
        heads = ["of", *(f"{count} k triples" for count in (41.1, 117, 378)), "at least", "at most"]
        columns = [{"name": head, **size} for head in heads]
        rows = [["CPU: before execution", *["78.2 µs"] * 3, *["-0.00834"] * 2]]
        table = {"title": "costs", "columns": columns, "rows": rows}
        lines = list(_grid(table, WIDTH, None))
        assert [len(line) <= WIDTH for line in lines] == [True] * 3
        assert lines[0].split() == ["41.1", "k", "117", "k", "378", "k"]
        assert lines[1].split() == ["of", *["triples"] * 3, "at", "least", "at", "most"]
        assert lines[2].split("  ")[1] == "CPU: before execution"

    def test_markdown_is_whole_and_takes_nothing_for_its_own(
        self, whole_document: dict[str, Any]
    ) -> None:
        text = "\n".join(markdown_lines(whole_document))
        assert "## 2. About utilisation" in text
        assert "Tests of a \\<test\\>" in text
        assert "| utilised by the power test | 4/5 |" in text
        assert escaped("a|b *c*") == "a\\|b \\*c\\*"

    def test_numbers_keep_their_units(self) -> None:
        assert bound("12 % in 3 s, 4 streams") == "12\u00a0% in 3\u00a0s, 4 streams"


class TestTables:
    def test_each_is_a_file_with_plain_values(
        self, study: Path, whole_document: dict[str, Any]
    ) -> None:
        files = {path.name for path in (study / "tables").iterdir()}
        assert {"composite-runs.csv", "utilisation-measures.csv", "threads-sweep.csv"} <= files
        with (study / "tables" / "composite-runs.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        table = figure_named(whole_document, "composite")["tables"][0]
        assert [float(row["power (/h)"]) for row in rows] == [row[4] for row in table["rows"]]

    def test_measures_have_the_article_among_them(self, study: Path) -> None:
        with (study / "tables" / "utilisation-measures.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        theirs = [row for row in rows if row["subject"] == "the article"]
        assert {row["key"]: float(row["median"]) for row in theirs}["power_seconds"] == 42

    def test_files_of_figures_that_are_gone_are_removed(self, study: Path) -> None:
        old = study / "tables" / "gone-table.csv"
        old.write_text("x\n", encoding="utf-8")
        build_study(study)
        assert not old.exists()


class TestBesideTheArticle:
    def test_a_ratio_of_the_article_is_drawn_whatever_the_scale(self) -> None:
        beside = {"key": "reads", "unit": "times", "article": 4.0, "article_high": 5.0}
        spread = {"middle": 3.0, "low": 3.0, "high": 3.0, "count": 1}
        shown = {
            "name": "multiples",
            "subjects": ["DuckDB"],
            "measures": [
                {"key": key, "title": key, "unit": unit, "at": None, "values": {"DuckDB": spread}}
                for key, unit in (("reads", "times"), ("seconds", "s"))
            ],
            "article": {"compared": [beside | {"printed": "4 to 5"}, beside | {"key": "seconds"}]},
        }
        chart = {"table": None, "kind": "bars", "keys": ["reads", "seconds"]}
        theirs = [row for row in chart_rows(shown, chart) if row["subject"] == "the article"]
        assert [(row["key"], row["value"], row["label"]) for row in theirs] == [
            ("reads", 4.5, "4 to 5")
        ]
        assert (theirs[0]["low"], theirs[0]["high"]) == (4.0, 5.0)

    def test_a_figure_without_a_counterpart_says_why_where_its_author_does(
        self, tmp_path: Path
    ) -> None:
        made = two_engines(tmp_path)
        why = 'name = "numa"\nreasons = ["This host has one socket."]'
        directory = made.write([], PUBLISHED.replace('name = "numa"', why))
        shown = study_document(read_study(directory))["not_shown"]
        assert "This host has one socket." in {gap["why"] for gap in shown}


@pytest.mark.parametrize(("written", "kind"), [("versus", "compare"), ("plan_regret", "plans")])
def test_a_kind_of_figure_is_known_by_its_name_in_older_records(
    tmp_path: Path, written: str, kind: str
) -> None:
    directory = whole_study(tmp_path)
    file = directory / "study.toml"
    text = file.read_text(encoding="utf-8")
    named = read_study(directory).figures[0].kind
    file.write_text(text.replace(f'kind = "{named}"', f'kind = "{written}"'), encoding="utf-8")
    assert kind in {figure.kind for figure in read_study(directory).figures}
