"""Call trees for pages: how detailed they are, their colours, their differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.profile.call_tree import REST, call_tree
from assay.analysis.profile.difference_tree import difference_tree
from assay.analysis.profile.profile import Profile
from assay.analysis.profile.samples import compare, read_profile
from assay.record.reader import Run
from assay.report.page.difference import difference_view
from assay.report.page.flame_view import NODES_MAX, SEVERAL, SHARES_MIN, flame_view, small_enough
from tests.records import write_run
from tests.sampled import as_sampled


def read(directory: Path) -> Profile:
    profile = read_profile(Run(directory))
    assert profile is not None
    return profile


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    return read(as_sampled(write_run(tmp_path / "one")))


@pytest.fixture
def slower(tmp_path: Path) -> Profile:
    return read(as_sampled(write_run(tmp_path / "two"), slower="Probe"))


def by_label(tree: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    return {
        tree["labels"][label]: value for label, value in zip(tree["label"], values, strict=True)
    }


def test_the_outermost_node_differs_as_the_total_does(profile: Profile, slower: Profile) -> None:
    tree = difference_tree(slower, profile)
    total = compare(slower, profile).filter(pl.col("level") == "total").row(0, named=True)
    for name in ("theirs_s", "difference_s", "low_s", "high_s", "is_noise"):
        assert tree[name][0] == pytest.approx(total[name])


def test_only_what_was_sampled_more_often_differs(profile: Profile, slower: Profile) -> None:
    tree = difference_tree(slower, profile)
    is_noise = by_label(tree, tree["is_noise"])
    assert is_noise["HashTable<long>::Probe"] is False
    assert is_noise["Scan::Next"] is True
    assert by_label(tree, tree["difference_s"])["Scan::Next"] == 0


def test_samples_below_functions_that_only_they_called_are_the_callers(
    profile: Profile, slower: Profile
) -> None:
    """What ours lacks is moved to what called it, so that no caller loses CPU time."""
    probes = slower.frames.filter(pl.col("label").str.contains("Probe"))["frame"]
    hit = slower.samples.filter(pl.col("leaf").is_in(probes))["stack"]
    without = replace(slower, samples=slower.samples.filter(~pl.col("stack").is_in(hit)))
    tree = difference_tree(without, profile)
    assert not any("Probe" in label for label in by_label(tree, tree["total"]))
    probed = compare(without, profile).filter(pl.col("work") == "hash probe", level="work")
    difference = by_label(tree, tree["difference_s"])["Execute"]
    assert difference == pytest.approx(probed["difference_s"][0])


def test_one_pass_on_each_side_has_no_interval(profile: Profile) -> None:
    first = profile.passes.unique("operation", keep="first")
    sample_profile = replace(
        profile,
        passes=first,
        samples=profile.samples.join(first, on="sequence", how="semi"),
    )
    tree = difference_tree(sample_profile, sample_profile)
    assert set(tree["low_s"]) == set(tree["is_noise"]) == {None}
    assert difference_view(tree, 0.0).data["change"]["largest_s"] == 1.0


def test_what_is_too_small_is_not_compared(profile: Profile, slower: Profile) -> None:
    tree = difference_tree(slower, profile, share_min=0.05)
    rest = [tree["labels"][label] == REST for label in tree["label"]]
    assert any(rest)
    assert {value for value, small in zip(tree["difference_s"], rest, strict=True) if small} == {
        None
    }


def test_a_tree_that_fits_is_whole(profile: Profile) -> None:
    tree, share_min = small_enough(lambda least: call_tree(profile, share_min=least))
    assert (tree, share_min) == (call_tree(profile), 0.0)
    view = flame_view(tree, share_min)
    assert (view.left_out, view.has_kernel, view.operations) == (0.0, True, ["q01", "q02", "q03"])


def test_a_tree_that_is_too_large_loses_its_smallest_nodes() -> None:
    asked = []

    def made(share_min: float) -> dict[str, Any]:
        asked.append(share_min)
        return {"parent": [-1] * (NODES_MAX + 3 - len(asked))}

    tree, share_min = small_enough(made)
    assert asked == list(SHARES_MIN[:3])
    assert (len(tree["parent"]), share_min) == (NODES_MAX, SHARES_MIN[2])


def test_what_is_left_out_is_told(profile: Profile) -> None:
    tree = call_tree(profile, share_min=0.05)
    small = sum(total for label, total in by_label(tree, tree["total"]).items() if label == REST)
    assert 0 < small / tree["samples"] <= flame_view(tree, 0.05).left_out < 1


def test_a_node_has_the_colour_of_what_most_of_it_did(profile: Profile) -> None:
    tree = call_tree(profile)
    kinds = by_label(tree, flame_view(tree, 0.0).data["work"])
    assert kinds["Execute"] == SEVERAL
    assert tree["works"][kinds["HashTable<long>::Probe"]] == "hash probe"
    assert tree["works"][kinds["vfs_read"]] == "kernel I/O"
