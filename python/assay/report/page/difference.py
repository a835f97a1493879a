"""HTML page on the difference between two runs: a flame graph and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.analysis.profile.difference_tree import difference_tree
from assay.model.errors import UsageError
from assay.model.units import seconds_text
from assay.report.charts.palette import BLUE, ORANGE, SEVERAL_KINDS, WORK_COLOURS, work_colour
from assay.report.page.flame_view import FlameView, drawn, has_kernel, left_out, small_enough
from assay.report.page.profile import left_out_words
from assay.report.page.rendering import rendered, template
from assay.report.page.run import tree_words
from assay.report.words.profile_difference import (
    interval_text,
    noise_words,
    operations_words,
    scaled_words,
)
from assay.report.words.run import title

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.analysis.profile.profile import Profile
    from assay.report.documents.profile.call_tree import DifferenceTree
    from assay.report.documents.profile.profile_difference import (
        ProfileDifference,
        SampleDifference,
    )
    from assay.report.documents.run import RunDocument

MORE, LESS = ORANGE, BLUE
ABOUT = (
    "Boxes are functions of this run; their width is the number of samples. A coloured "
    "function used more or less CPU time per pass than in the other run, with a 95 % interval "
    "that excludes zero; a deeper colour is a larger difference. Functions that only the"
    " other run called have no box: the table below has them."
)
NO_INTERVAL = " One pass was measured on each side, so there is no interval and no colour."


def write_page(
    path: Path,
    documents: tuple[RunDocument, RunDocument],
    profiles: tuple[Profile, Profile],
    difference: ProfileDifference,
) -> None:
    """Write the HTML page on the difference between two runs.

    Args:
        path: File to write.
        documents: Documents of this run and of the other run.
        profiles: Profiles of this run and of the other run.
        difference: Result of `sections.difference`.

    Raises:
        UsageError: If the file cannot be written.
    """
    view = difference_view(
        *small_enough(
            lambda least: cast(
                "DifferenceTree", difference_tree(*profiles, difference["operation"], least)
            )
        )
    )
    try:
        path.write_text(difference_page(documents, view, difference), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def difference_page(
    documents: tuple[RunDocument, RunDocument], view: FlameView, difference: ProfileDifference
) -> str:
    """Return the page on the difference between two runs as HTML."""
    ours, theirs = documents
    certain = difference["total"] is not None and difference["total"]["is_noise"] is not None
    return rendered(
        "difference.html.j2",
        [template("flame.js")],
        ["report.css", "flame.css"],
        ours=ours | {"title": title(ours)},
        theirs=theirs | {"title": title(theirs)},
        operations=operations_words(difference)
        if difference["operations"]
        else "no common operation",
        scaled="" if difference["scaled_by"] == 1 else f". {scaled_words(difference)}",
        about=f"{ABOUT}{'' if certain else NO_INTERVAL}{left_out_words(view)}",
        tree=tree_words(view),
        total=None if difference["total"] is None else _row(difference["total"], "total", 0),
        rows=list(_rows(difference)),
        noise=noise_words(difference) if certain else None,
    )


def difference_view(tree: DifferenceTree, share_min: float) -> FlameView:
    """Return a flame graph of CPU time differences, coloured by growth and decline."""
    changed = [
        abs(difference)
        for difference, is_noise in zip(tree["difference_s"], tree["is_noise"], strict=True)
        if difference is not None and is_noise is False
    ]
    several = WORK_COLOURS[SEVERAL_KINDS]
    change: dict[str, object] = {
        "theirs_s": [_rounded(seconds) for seconds in tree["theirs_s"]],
        "difference_s": [_rounded(seconds) for seconds in tree["difference_s"]],
        "low_s": [_rounded(seconds) for seconds in tree["low_s"]],
        "high_s": [_rounded(seconds) for seconds in tree["high_s"]],
    }
    data = drawn(tree) | {
        "work": tree["work"],
        "colours": [several] * len(tree["works"]),
        "several": several,
        "change": change
        | {"is_noise": tree["is_noise"]}
        | {"largest_s": max(changed, default=1.0), "more": MORE, "less": LESS},
    }
    legend = [
        (MORE, "more CPU time than the other run"),
        (LESS, "less"),
        (several, "no difference beyond noise"),
    ]
    # Differences cover all operations together; a single operation has a page of its own.
    return FlameView(data, legend, [], has_kernel(tree), left_out(tree), share_min)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 7)


def _rows(difference: ProfileDifference) -> Iterator[dict[str, object]]:
    for row in difference["work"]:
        yield _row(row, row["work"] or "", 0)
        yield from (
            _row(symbol, symbol["symbol"] or "", 1)
            for symbol in row["symbols"]
            if not symbol["is_noise"]
        )


def _row(row: SampleDifference, label: str, level: int) -> dict[str, object]:
    return {
        "label": label,
        "level": level,
        "colour": work_colour(row["work"]) if level == 0 and row["work"] else None,
        "ours": seconds_text(row["ours_s"]),
        "theirs": seconds_text(row["theirs_s"]),
        "difference": interval_text(row),
        "is_noise": row["is_noise"],
    }
