"""Where the time went as a chart: pieces add up, colours can be told apart by everyone."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from assay.analysis.causes import CAUSES, PARTS
from assay.record.reader import Run
from assay.report.charts.palette import CAUSE_COLOURS, LARGEST_WORK_COLOURS, OTHER_WORK_COLOUR
from assay.report.charts.run import Charts
from assay.report.charts.where import (
    ALWAYS,
    BY_MODE,
    BY_WORK,
    NO_LOAD_SPLIT,
    OTHER_WORK,
    named_works,
    part_title,
    pieces,
    rows,
    why_empty,
    works_of,
)
from assay.report.document import document
from tests.explained import with_causes
from tests.loads import an_operation, open_load, write_load
from tests.records import MS, OPERATIONS, write_run
from tests.sampled import as_sampled

# How a colour reaches somebody without the cones for long, middle or short waves, in linear sRGB:
# Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009), severity 1.
SEEN = {
    "all cones": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "no long": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no middle": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no short": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# CIE 1976 differences; 2.3 is just noticeable side by side, a legend needs some times as much.
DIFFERENCE_MIN = 13.0
UNCOVERED = "uncovered"


def linear(colour: str) -> list[float]:
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    red, green, blue = (min(1.0, max(0.0, value)) for value in rgb)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(first: str, other: str, eye: str) -> float:
    seen = [
        lab([sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in SEEN[eye]])
        for colour in (first, other)
    ]
    return float(sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5)


@pytest.mark.parametrize("eye", SEEN)
@pytest.mark.parametrize("view", [BY_MODE, BY_WORK])
def test_everyone_can_tell_the_parts_apart(eye: str, view: str) -> None:
    # What is not accounted for has stripes, and needs no colour of its own.
    colours = {name: colour for name, colour in CAUSE_COLOURS.items() if name != UNCOVERED}
    if view == BY_WORK:
        colours = {name: colours[name] for name in colours if not name.startswith("cpu_")}
        colours |= {str(place): colour for place, colour in enumerate(LARGEST_WORK_COLOURS)}
        colours |= {OTHER_WORK: OTHER_WORK_COLOUR}
    near = [
        (text, other)
        for text, other in itertools.combinations(colours, 2)
        if difference(colours[text], colours[other], eye) < DIFFERENCE_MIN
    ]
    assert near == []


def test_every_cause_has_a_colour() -> None:
    assert set(CAUSE_COLOURS) == set(PARTS)


@pytest.fixture
def run_document(tmp_path: Path) -> dict[str, Any]:
    directory = as_sampled(write_run(tmp_path))
    return with_causes(document(Run(directory), directory))


def length(parts: list[dict[str, Any]], view: str) -> float:
    return sum(row["end"] - row["begin"] for row in parts if row["view"] in (view, ALWAYS))


@pytest.mark.parametrize("view", [BY_MODE, BY_WORK])
def test_the_pieces_of_both_views_add_up_to_the_time(
    run_document: dict[str, Any], view: str
) -> None:
    for name in OPERATIONS:
        mine = [row for row in rows(run_document) if row["operation"] == name]
        assert length(mine, view) == pytest.approx(1.0, abs=1e-5)


def test_pieces_follow_each_other_in_the_order_of_the_causes(run_document: dict[str, Any]) -> None:
    chart_pieces = list(pieces(run_document["operations"][0], None))
    assert [piece.part for piece in chart_pieces] == [part_title(cause.name) for cause in CAUSES]
    assert [piece.begin for piece in chart_pieces[1:]] == [piece.end for piece in chart_pieces[:-1]]


def test_work_takes_the_place_of_the_modes(run_document: dict[str, Any]) -> None:
    mine = [
        row for row in rows(run_document) if row["operation"] == "q02" and row["view"] == BY_WORK
    ]
    assert length(mine, BY_WORK) == pytest.approx(0.4, abs=1e-5)
    shares = {
        row["work"]: row["share"]
        for row in run_document["profile"]["operations"][1]["work"]
        if row["work"] in named_works(run_document)
    }
    drawn = {row["part"]: (row["end"] - row["begin"]) / 0.4 for row in mine}
    assert drawn.pop(OTHER_WORK) == pytest.approx(1 - sum(shares.values()), abs=1e-4)
    assert drawn == pytest.approx(shares, abs=1e-4)


def test_the_largest_work_is_named_and_the_unclassified_is_not(
    run_document: dict[str, Any],
) -> None:
    named = named_works(run_document)
    assert 0 < len(named) <= len(LARGEST_WORK_COLOURS)
    assert "unclassified" not in named
    run_document["profile"] = None
    assert works_of(run_document, named_works(run_document)) == {}


def test_a_cause_that_does_not_occur_is_in_no_legend(run_document: dict[str, Any]) -> None:
    for operation in run_document["operations"]:
        operation["where"]["lock"] = 0.0
        operation["where"]["latch"] = None
        operation["where"]["stolen"] = 0.00004
    colour = Charts(run_document, None).operations.to_dict()["layer"][1]["encoding"]["color"]
    legend = str(colour["legend"]["values"])
    assert part_title("client") in legend
    assert part_title("lock") not in legend
    assert part_title("latch") not in legend
    assert part_title("stolen") not in legend


def test_without_a_profile_there_is_nothing_to_choose(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    made = document(Run(directory), directory)
    bound = [
        param["name"]
        for param in Charts(made, None).operations.to_dict()["params"]
        if "bind" in param
    ]
    assert bound == ["shown", "sorted"]


def test_every_cause_is_drawn(run_document: dict[str, Any]) -> None:
    svg = vl_convert.vegalite_to_svg(Charts(run_document, None).operations.to_dict())
    assert "stroke-dasharray" in svg
    assert "accounted for" in svg


def test_a_load_that_was_not_split_says_why(tmp_path: Path) -> None:
    played = [an_operation(n, n * MS, 0, MS) for n in range(2_000)]
    directory = write_load(tmp_path, open_load(1_000, 4), played, 2.0)
    whole_document = document(Run(directory), directory)
    assert why_empty(whole_document) == NO_LOAD_SPLIT
    assert "operations" not in Charts(whole_document, None).names
    assert why_empty(with_causes(whole_document)) is None
    assert "operations" in Charts(whole_document, None).names
