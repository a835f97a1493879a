"""Memory and the state at the start, as a terminal tells them."""

from __future__ import annotations

from typing import Any

from assay.report.terminal.memory import memory_line, memory_lines, state_line
from assay.report.words.state import state_sentence

MIB = 1 << 20
WIDTH = 100


def operation(
    name: str, rss: int | None, pss: int | None, own: int | None, growth: int | None = None
) -> dict[str, Any]:
    """An operation with its peaks in MiB."""
    sizes = {
        "memory_peak_bytes": rss,
        "memory_growth_bytes": growth,
        "memory_peak_pss_bytes": pss,
        "engine_memory_bytes": own,
    }
    return {"name": name} | {
        key: None if size is None else size * MIB for key, size in sizes.items()
    }


def document(*operations: dict[str, Any], **state: Any) -> dict[str, Any]:
    """A document of some operations; the whole needed what the largest of them did."""
    keys = ("memory_peak_bytes", "memory_peak_pss_bytes", "engine_memory_bytes")
    metrics = {
        key: max(
            (
                measured_operation[key]
                for measured_operation in operations
                if measured_operation[key] is not None
            ),
            default=None,
        )
        for key in keys
    }
    state_facts = {"asked": "cold", "resident_share": 0.0, "data_bytes": 210 * MIB} | state
    return {
        "engine_title": "Engine",
        "operations": list(operations),
        "metrics": metrics,
        "state": state_facts if state else None,
    }


def test_one_line_has_the_peaks_and_who_needed_most() -> None:
    run_document = document(operation("a", 100, 90, 30), operation("b", 120, None, 40))
    (line,) = memory_line(run_document, WIDTH)
    message = "120 MiB resident at most, 90 MiB proportional, 40 MiB by Engine's own account (b)"
    assert line == f"  memory    {message}"


def test_what_is_not_known_is_no_line() -> None:
    run_document = document(operation("a", None, None, None))
    assert memory_line(run_document, WIDTH) == []
    assert list(memory_lines(run_document, WIDTH, everything=True)) == []


def test_a_table_has_those_first_that_needed_most_and_a_dash_for_what_is_absent() -> None:
    run_document = document(operation("a", 100, 90, 30, 7), operation("b", 120, None, 40))
    *_, heads, first, second = memory_lines(run_document, WIDTH, everything=True)
    assert heads.split() == ["resident", "grown", "by", "proportional", "Engine's", "own"]
    assert first.split() == ["b", "120", "MiB", "-", "-", "40", "MiB"]
    assert second.split() == ["a", "100", "MiB", "7", "MiB", "90", "MiB", "30", "MiB"]


def test_growth_stands_beside_the_level_where_all_is_told() -> None:
    run_document = document(operation("a", 100, 90, 30, 7))
    (*_, few), (*_, all_of_it) = (
        memory_lines(run_document, WIDTH, everything=everything) for everything in (False, True)
    )
    assert few.split() == ["a", "100", "MiB", "90", "MiB", "30", "MiB"]
    assert all_of_it.split()[1:5] == ["100", "MiB", "7", "MiB"]


def test_a_long_table_says_how_many_are_left() -> None:
    run_document = document(
        *(operation(f"q{number}", number, None, None) for number in range(1, 9))
    )
    assert list(memory_lines(run_document, WIDTH, everything=False))[-1] == "  ... 3 more (--json)"
    assert not [
        line for line in memory_lines(run_document, WIDTH, everything=True) if "more" in line
    ]


def test_a_cold_start_says_what_was_read() -> None:
    run_document = document(
        resident_bytes_before_start=0,
        resident_bytes_after_start=MIB,
        first_read_bytes=9 * MIB,
        first_operation="q14",
    )
    (line, *rest) = state_line(run_document, 160)
    assert rest == []
    assert line.endswith(
        "0 % of 210 MiB of data files in memory before the start; the start brought 1 MiB into"
        " memory; q14, the first query, read 9 MiB from devices"
    )


def loaded(**run_document: Any) -> dict[str, Any]:
    state = {
        "asked": "loaded",
        "words": "loaded",
        "how": ["loaded by it"],
        "left": [],
        "resident_share": 0.5,
        "resident_bytes_before_start": None,
        "resident_bytes_after_start": 105 * MIB,
        "engine_cache": None,
        "engine_cached_bytes": None,
        "since_load_s": 2.5,
        "first_read_bytes": 0,
        "first_operation": "q14",
    }
    return document(**(state | run_document))


HELD = {
    "engine_cache": [
        {"name": "part", "cached_bytes": 6 * MIB, "bytes": 8 * MIB},
        {"name": "part_key", "cached_bytes": 2 * MIB, "bytes": None},
    ],
    "engine_cached_bytes": 8 * MIB,
}


def test_what_loading_left_is_told_with_what_most_of_it_is() -> None:
    (line,) = state_line(loaded(**HELD), 300)
    assert line.endswith(
        "50 % of 210 MiB of data files in memory after loading; 8 MiB in the engine's own cache,"
        " part (6 MiB, 75 % of it) most of all; q14, the first query, read nothing from devices"
    )
    assert "own cache" not in state_line(loaded(), 300)[0]


def test_the_method_says_what_loading_left() -> None:
    sentence = state_sentence(loaded(**HELD))
    assert sentence.startswith("The state was loaded: loaded by it. The first query came 2.50 s")
    assert "50 % of 210 MiB of data files were in the page cache" in sentence
    assert "held 8 MiB of them, most of all part (6 MiB, 75 % of it), part_key (2 MiB)." in sentence
    whole = [{"name": "", "cached_bytes": 8 * MIB, "bytes": None}]
    text = state_sentence(loaded(engine_cache=whole, engine_cached_bytes=8 * MIB))
    assert "The engine's own cache held 8 MiB of them. " in text


def test_a_hot_start_says_nothing_more() -> None:
    run_document = document(asked="hot", resident_bytes_after_start=None, first_read_bytes=None)
    assert state_line(run_document, WIDTH) == []
    assert state_line(document(), WIDTH) == []
