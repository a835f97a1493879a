"""What `assay explain` prints, against texts that were read by a person before they were kept.

`ASSAY_WRITE_GOLDEN=1` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.profile.difference import as_long_as
from assay.analysis.profile.profile import Profile
from assay.analysis.profile.samples import read_profile, unclassified
from assay.record.reader import Run
from assay.report.charts.profile import why_empty
from assay.report.document import document
from assay.report.sections.difference import difference
from assay.report.sections.profile import section
from assay.report.terminal.article import article_lines
from assay.report.terminal.difference import compared_lines, difference_lines
from assay.report.terminal.profile import operations_text, profile_lines, shortened
from assay.report.words.missing_rules import skeleton_lines
from assay.report.words.profile import lost_text, metered_text, outside_text
from tests.records import write_run
from tests.sampled import as_sampled

GOLDEN = Path(__file__).parents[1] / "golden"
OTHER = "20261121T101500Z-tpch-duckdb-def456"


def read(directory: Path) -> tuple[Run, Profile]:
    run = Run(directory)
    profile = read_profile(run)
    assert profile is not None
    return run, profile


@pytest.fixture
def sampled(tmp_path: Path) -> tuple[Run, Profile]:
    return read(as_sampled(write_run(tmp_path)))


@pytest.fixture
def profile_section(sampled: tuple[Run, Profile]) -> dict[str, Any]:
    return section(*sampled)


def assert_golden(name: str, lines: Iterable[str]) -> None:
    path, text = GOLDEN / name, "".join(f"{line}\n" for line in lines)
    if os.environ.get("ASSAY_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_profile(profile_section: dict[str, Any]) -> None:
    assert_golden("explain-profile.txt", profile_lines(profile_section, 80))


def test_one_operation_with_its_families_open(sampled: tuple[Run, Profile]) -> None:
    of_q02 = section(*sampled, operation="q02")
    assert_golden("explain-operation.txt", profile_lines(of_q02, 80, open_families=True))


def test_an_article(profile_section: dict[str, Any]) -> None:
    assert_golden(
        "explain-article.md", article_lines("TPC-H SF 1 on DuckDB 2.0.0", profile_section)
    )


def test_rules_that_are_missing(sampled: tuple[Run, Profile]) -> None:
    run, profile = sampled
    missing = unclassified(profile).to_dicts()
    outermost = profile.rules.outermost
    lines = list(skeleton_lines(missing, run.id, outermost=outermost))
    assert_golden("explain-unclassified.toml", lines)


def test_what_changed(tmp_path: Path, sampled: tuple[Run, Profile]) -> None:
    run, profile = read(as_sampled(write_run(tmp_path, run_id=OTHER), slower="Probe"))
    changed = difference(profile, sampled[1])
    pair = document(run, run.dir), document(sampled[0], sampled[0].dir)
    assert_golden("explain-against.txt", compared_lines(*pair, changed, 80, all_symbols=False))


def test_the_same_run_differs_by_nothing(sampled: tuple[Run, Profile]) -> None:
    changed = difference(sampled[1], sampled[1])
    assert changed["total"]["difference_s"] == pytest.approx(0)
    lines = "\n".join(difference_lines(changed, 80, all_symbols=True))
    assert "hash probe" not in lines
    assert "Within noise: 6 kinds of work" in lines


def test_another_scale_is_compared_by_where_its_time_goes(sampled: tuple[Run, Profile]) -> None:
    _, profile = sampled
    smaller = replace(profile, scaled_by=0.25)
    changed = difference(profile, as_long_as(smaller, profile))
    assert changed["total"]["difference_s"] == pytest.approx(0)
    assert changed["scaled_by"] == pytest.approx(1)
    larger = as_long_as(profile, smaller)
    text = "\n".join(difference_lines(difference(smaller, larger), 80, all_symbols=True))
    assert "its seconds are multiplied by 0.25" in text
    assert "Within noise: 6 kinds of work" in text


def test_runs_without_a_common_operation_are_not_compared(sampled: tuple[Run, Profile]) -> None:
    _, profile = sampled
    changed = difference(profile, replace(profile, passes=profile.passes.clear()))
    assert "No operation has CPU samples in both runs" in next(
        difference_lines(changed, 80, all_symbols=False)
    )
    assert changed["operations"] == []


def test_skeletons_are_rules_once_they_are_completed(sampled: tuple[Run, Profile]) -> None:
    from assay.analysis.work.rules import parse_rules

    run, profile = sampled
    missing = unclassified(profile).to_dicts()
    outermost = profile.rules.outermost
    text = "\n".join(skeleton_lines(missing, run.id, outermost=outermost))
    rules = parse_rules(text.replace('work = "?"', 'work = "filter"'), "my.toml")
    assert {rule.symbols for rule in rules.rules} == {("Filter",)}
    again = read_profile(run, rules)
    assert again is not None
    assert {row["symbol"] for row in unclassified(again).to_dicts()} <= {"Execute", None}


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("operation", [None, "q01"])
def test_no_line_is_wider_than_the_terminal(
    sampled: tuple[Run, Profile], operation: str | None, width: int
) -> None:
    document_section = section(*sampled, operation=operation)
    lines = profile_lines(document_section, width, all_symbols=True, open_families=True)
    assert max(len(line) for line in lines) <= width


def test_what_an_engine_calls_its_functions_cannot_move_the_cursor(
    profile_section: dict[str, Any],
) -> None:
    profile_section["symbols"][0]["symbol"] = "evil\x1b[2J\nname"
    text = "\n".join(profile_lines(profile_section, 80))
    assert "\x1b" not in text
    assert "evil[2J name" in text


def test_a_profile_without_samples_says_how_to_get_some(sampled: tuple[Run, Profile]) -> None:
    run, profile = sampled
    document_section = section(run, replace(profile, samples=profile.samples.clear()))
    text = " ".join(" ".join(profile_lines(document_section, 80)).split())
    assert "no sample fell into an operation" in text
    assert "--min-time" in text
    document_section["sampling"]["unplaced"] = 9
    text = " ".join(" ".join(profile_lines(document_section, 80)).split())
    assert "--clients 1" in text
    article = list(article_lines("title", document_section))
    assert "```text" not in article
    assert "--clients 1" in " ".join(article)


def test_samples_of_several_sessions_are_said_to_be_of_all_operations(
    sampled: tuple[Run, Profile],
) -> None:
    run, profile = sampled
    sampling = replace(profile.sampling, told_apart=False)
    document_section = section(run, replace(profile, sampling=sampling))
    lines = list(profile_lines(document_section, 100))
    assert "cannot be split by operation" in " ".join(lines[:2])
    assert any("HashTable<*>::Probe" in line for line in lines)
    assert document_section["operations"] == []
    assert "cannot be split by operation" in (why_empty(document_section) or "")
    assert document_section["metered_s"] is None


def test_nothing_is_said_of_samples_that_are_not_there(profile_section: dict[str, Any]) -> None:
    none = dict.fromkeys(profile_section["sampling"], 0)
    assert outside_text(none) == "no sample was taken"
    assert outside_text(none | {"taken": 1}) == "every sample is of an operation"


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("short", 10, "short"),
        ("duckdb::JoinHashTable::Probe", 21, "…JoinHashTable::Probe"),
        ("duckdb::JoinHashTable::Probe", 20, "…Probe"),
        ("a_function_of_c_with_a_long_name", 16, "a_func…long_name"),
        ("engine::Scan<a::b>::NextChunkOfManyRows", 20, "…NextChunkOfManyRows"),
        ("Scan<a_type, another_type>::Next<b_type>", 30, "…Next<b_type>"),
        ("libduckdb.so+0x1f300..0x1f5a0", 24, "libduc…+0x1f300..0x1f5a0"),
    ],
)
def test_long_names_keep_what_tells_them_best(name: str, width: int, shown: str) -> None:
    assert len(shortened(name, width)) <= width
    assert shortened(name, width) == shown


@pytest.mark.parametrize(
    ("names", "everywhere", "text"),
    [
        (["q03", "q01"], False, "q01 q03"),
        (["q05", "q04", "q03", "q02", "q01"], False, "q03 q04 q05 +2"),
        (["q02", "q01"], True, "all"),
        ([], False, "few in each"),
    ],
)
def test_operations_are_named_as_far_as_they_fit(
    names: list[str], everywhere: bool, text: str
) -> None:
    row = {"operations": names, "operations_all": everywhere}
    assert operations_text(row, 16) == text


def test_what_was_not_counted_is_not_none_lost(profile_section: dict[str, Any]) -> None:
    sampling = profile_section["sampling"]
    gone = dict.fromkeys(("lost", "throttled", "cut", "broken"))
    assert lost_text(sampling | gone).startswith("not recorded")
    zero = dict.fromkeys(("lost", "throttled", "cut", "broken"), 0)
    assert lost_text(sampling | zero).startswith("nothing")


def test_samples_that_disagree_with_the_counters_are_doubted(
    profile_section: dict[str, Any],
) -> None:
    assert "disagree" in metered_text(profile_section | {"sampled_s": 2.0, "metered_s": 1.0})
    assert "disagree" not in metered_text(profile_section | {"sampled_s": 1.0, "metered_s": 1.0})
    few = {"sampled_s": 2.0, "metered_s": 1.0, "by_chance": 1.5}
    assert "too few" in metered_text(profile_section | few)
    assert "disagree" not in metered_text(profile_section | few)
    assert "not compared" in metered_text(profile_section | {"metered_s": None})
