"""The page's findings, plans and what-ifs, from documents whose figures are known."""

from __future__ import annotations

import base64
import gzip
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from assay.record.reader import Run
from assay.report.document import document
from assay.report.page.findings import anchors, finding_rows, place_words
from assay.report.page.plans import factor_words, plan_rows
from assay.report.page.record import native_plans
from assay.report.page.run import page
from assay.report.page.what_if import change_text, what_if_words
from tests.explained import HOSTILE, NATIVE, SPILLED, explained
from tests.records import OPERATIONS, write_run
from tests.sampled import as_sampled


class Page(HTMLParser):
    """The links and the places of a page, and the text of each element that has an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        run_document = dict(attrs)
        self.names.append(tag)
        if run_document.get("id"):
            self.ids.append(str(run_document["id"]))
        if (run_document.get("href") or "").startswith("#"):
            self.links.append(str(run_document["href"])[1:])


@pytest.fixture
def made(tmp_path: Path) -> tuple[Run, dict[str, Any]]:
    return explained(write_run(tmp_path))


def text_of(html: str, section: str) -> str:
    match = re.search(rf'<section[^>]* id="{section}">.*?</section>', html, re.DOTALL)
    assert match is not None
    return " ".join(re.sub(r"<[^>]*>", " ", match.group(0)).split())


class TestWhy:
    def rows(self, made: tuple[Run, dict[str, Any]]) -> list[dict[str, Any]]:
        run, run_document = made
        return finding_rows(
            run_document, anchors(run_document, run.environment["engine"]["settings"])
        )

    def test_evidence_leads_to_what_the_page_has(self, made: tuple[Run, dict[str, Any]]) -> None:
        (row,) = self.rows(made)
        assert {evidence["place"]: evidence["href"] for evidence in row["evidence"]} == {
            "plan of q01": "#plan:q01",
            "time of q01": "#where:q01",
            "setting threads": "#setting:threads",
            "check steal": "#check:steal",
            "timeline": "#timeline",
            # The engine of this record counts nothing.
            "counter temporary_bytes": None,
        }

    def test_every_link_has_its_place(self, tmp_path: Path) -> None:
        run, run_document = explained(as_sampled(write_run(tmp_path)))
        run_document["findings"][0]["evidence"].append(
            {"says": "most samples", "at": "profile:q02", "witness": "sample", "contradicts": False}
        )
        seen = Page(page(run, run_document))
        assert {"plan:q01", "where:q01", "profile:q02", "finding-1", "method:spill"} <= set(
            seen.links
        )
        assert set(seen.links) <= set(seen.ids)
        assert len(seen.ids) == len(set(seen.ids))

    def test_commands_stand_apart_from_words(self, made: tuple[Run, dict[str, Any]]) -> None:
        (row,) = self.rows(made)
        assert row["to_try"] == [
            ("assay run tpch --engine duckdb --set memory_limit=8GB", True),
            (", or more memory", False),
        ]
        assert row["carry_out"] == f"assay try {made[0].id} spill:q01"
        assert row["gain"] == "predicted to save 4.0 % of the time"

    def test_a_command_that_is_told_is_not_told_twice(
        self, made: tuple[Run, dict[str, Any]]
    ) -> None:
        run, run_document = made
        run_document["findings"][0]["to_try"] = (
            f"`assay try {run.id} spill:q01` sets work_mem to 256 MiB"
        )
        (row,) = self.rows(made)
        assert row["carry_out"] is None
        assert text_of(page(run, run_document), "why").count("assay try") == 1

    def test_the_claim_has_its_effect_and_interval(self, made: tuple[Run, dict[str, Any]]) -> None:
        text = text_of(page(*made), "why")
        assert SPILLED in text
        assert "24 % of the time" in text
        assert "20 % to 28 % over passes" in text

    def test_nothing_found_says_what_was_looked_for(self, tmp_path: Path) -> None:
        run, run_document = explained(write_run(tmp_path))
        text = text_of(page(run, run_document | {"findings": []}), "why")
        assert "No findings: no cause exceeded its threshold." in text
        for method in ("bound by", "spill", "kernel time"):
            assert method in text

    @pytest.mark.parametrize(
        ("at", "message"),
        [("where:q1", "time of q1"), ("timeline", "timeline"), ("counter:x", "counter x")],
    )
    def test_places_have_words(self, at: str, message: str) -> None:
        assert place_words(at) == message


def rows_of(made: tuple[Run, dict[str, Any]]) -> list[dict[str, Any]]:
    run, run_document = made
    return plan_rows(native_plans(run, run_document), run_document)


class TestPlans:
    def test_the_longest_operation_comes_first(self, made: tuple[Run, dict[str, Any]]) -> None:
        assert [row["title"] for row in rows_of(made)] == ["q01", "q02"]

    def test_the_worst_estimate_is_told_with_its_direction(
        self, made: tuple[Run, dict[str, Any]]
    ) -> None:
        first = rows_of(made)[0]
        assert first["worst"] == "worst estimate 1,160x too few: index scan partsupp"
        assert first["root"]["factor"] == "4x too many"
        assert first["root"]["children"][0]["factor"] == ""
        worst = [node["worst"] for node in (first["root"], *first["root"]["children"])]
        assert worst == [False, False, True]

    @pytest.mark.parametrize(
        ("estimated", "rows", "factor", "message"),
        [
            (None, 5.0, None, ""),
            (10.0, 15.0, 1.5, ""),
            (10.0, 25.0, 2.5, "2.5x too few"),
            (25_000.0, 1.0, 25_000.0, "25,000x too many"),
        ],
    )
    def test_factors(
        self, estimated: float | None, rows: float, factor: float | None, message: str
    ) -> None:
        node = {"estimated_rows": estimated, "rows": rows, "q_error": factor}
        assert factor_words(node) == message

    def test_time_is_a_bar_of_the_share(self, made: tuple[Run, dict[str, Any]]) -> None:
        root = rows_of(made)[0]["root"]
        assert (root["time"], root["share"], root["width"]) == ("100 ms", "50 %", "50.0%")
        assert root["marks"] == ["spilled 1 GiB"]
        assert root["children"][1]["marks"] == ["removed 12 rows", "3 loops"]

    def test_what_was_not_told_is_not_nothing(self, made: tuple[Run, dict[str, Any]]) -> None:
        untimed = rows_of(made)[1]
        assert (untimed["root"]["time"], untimed["root"]["rows"]) == ("", "?")
        assert untimed["native"] is None
        assert "raw/plans/q02-0.json is missing" in text_of(page(*made), "plans")

    def test_the_native_plan_is_there_word_for_word(self, made: tuple[Run, dict[str, Any]]) -> None:
        packed = rows_of(made)[0]["native"]
        assert packed is not None
        assert gzip.decompress(base64.b64decode(packed)).decode() == NATIVE

    def test_a_condition_stays_text(self, tmp_path: Path) -> None:
        run, run_document = explained(write_run(tmp_path), condition=HOSTILE)
        assert "img" not in Page(page(run, run_document)).names

    def test_an_older_record_says_that_it_has_none(self, tmp_path: Path) -> None:
        directory = write_run(tmp_path)
        run_document = document(Run(directory), directory)
        text = text_of(page(Run(directory), run_document), "plans")
        assert "none in this record, the record is older than plans are" in text


class TestWhatIf:
    def test_a_geometric_mean_weighs_all_the_same(self, made: tuple[Run, dict[str, Any]]) -> None:
        what_if = what_if_words(made[1])
        assert what_if is not None
        assert [metric["label"] for metric in what_if["metrics"]][:2] == ["total", "geometric mean"]
        total = sum(OPERATIONS.values())
        for row in what_if["rows"]:
            seconds = OPERATIONS[row["operation"]]
            in_total, in_mean = (weight["value"] for weight in row["weights"][:2])
            assert in_total == pytest.approx(seconds / total, abs=1e-6)
            assert in_mean == pytest.approx(1 / len(OPERATIONS), abs=1e-6)

    def test_the_longest_is_chosen_first(self, made: tuple[Run, dict[str, Any]]) -> None:
        what_if = what_if_words(made[1])
        assert what_if is not None
        ordered = sorted(OPERATIONS, key=lambda name: -OPERATIONS[name])
        assert [row["operation"] for row in what_if["rows"]] == ordered

    def test_an_operation_without_time_leaves_nothing_to_predict(self, tmp_path: Path) -> None:
        directory = write_run(tmp_path, failing="q02")
        run = Run(directory)
        text = text_of(page(run, document(run, directory)), "what-if")
        assert "q02 never succeeded" in text

    @pytest.mark.parametrize(
        ("change", "message"), [(None, "no bound"), (-0.0868, "\u22128.7 %"), (0.5, "+50.0 %")]
    )
    def test_changes(self, change: float | None, message: str) -> None:
        assert change_text(change) == message
