"""A decoder that is not ours reads what speedscope does not show: labels, files, addresses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.report.profile_exports import pprof
from tests.known_profile import (
    BEGUN_NS,
    BUILD_ID,
    FRAMES,
    KERNEL_ADDRESS,
    MS,
    POSTGRES,
    WALL_MINUS_MONOTONIC_NS,
)
from tests.receivers.conftest import exported, node_json, unpacked

DECODE = """
const { Profile } = require(process.argv[1]);
const profile = Profile.decode(require("fs").readFileSync(process.argv[2]));
profile.stringTable = profile.stringTable.strings;
const plain = (key, value) => typeof value === "bigint" ? value.toString() : value;
console.log(JSON.stringify(profile, plain));
"""


@pytest.fixture(scope="module")
def decoded(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("pprof")
    raw = place / "known.pb"
    raw.write_bytes(unpacked(exported(pprof, place)))
    profile: dict[str, Any] = node_json("-e", DECODE, installed / "pprof-format", raw)
    return profile


def labels(decoded: dict[str, Any], sample: dict[str, Any]) -> dict[str, str]:
    texts = decoded["stringTable"]
    return {
        texts[label["key"]]: texts[label["str"]] if label["str"] else str(label["num"])
        for label in sample["label"]
    }


def test_samples_are_counts_and_nanoseconds(decoded: dict[str, Any]) -> None:
    texts = decoded["stringTable"]
    types = [(texts[kind["type"]], texts[kind["unit"]]) for kind in decoded["sampleType"]]
    assert types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert texts[decoded["defaultSampleType"]] == "cpu"
    assert int(decoded["period"]) == 2 * MS
    assert int(decoded["timeNanos"]) == BEGUN_NS + 2 * MS + WALL_MINUS_MONOTONIC_NS
    values = [tuple(map(int, sample["value"])) for sample in decoded["sample"]]
    assert sum(count for count, _ in values) == 10
    assert all(ns == count * 2 * MS for count, ns in values)


def test_labels_say_what_a_sample_was_for(decoded: dict[str, Any]) -> None:
    counter: Counter[tuple[str, ...]] = Counter()
    for sample in decoded["sample"]:
        sample_labels = labels(decoded, sample)
        counter[tuple(sample_labels[k] for k in ("operation", "work", "thread", "tid"))] += int(
            sample["value"][0]
        )
    assert counter == {
        ("q01", "hash probe", "postgres", "50"): 1,
        ("q01", "scan", "postgres", "50"): 2,
        ("q01", "kernel I/O", "postgres", "50"): 1,
        ("q01", "kernel I/O", "worker", "51"): 1,
        ("q01", "artefact", "postgres", "50"): 1,
        ("q09", "filter", "postgres", "50"): 2,
        ("q09", "unclassified", "postgres", "50"): 1,
        ("q09", "scan", "helping", "52"): 1,
    }


def test_places_have_their_address_file_and_build(decoded: dict[str, Any]) -> None:
    texts = decoded["stringTable"]
    files = {m["id"]: (texts[m["filename"]], texts[m["buildId"]]) for m in decoded["mapping"]}
    functions = {f["id"]: texts[f["name"]] for f in decoded["function"]}
    answers = {
        (functions[place["line"][0]["functionId"]], int(place["address"])): files.get(
            place["mappingId"]
        )
        for place in decoded["location"]
    }
    assert len(answers) == len(FRAMES)
    assert (
        answers["ExecHashJoin", 0x2000] == answers["ExecHashJoin", 0x2040] == (POSTGRES, BUILD_ID)
    )
    assert answers["copy_to_user", KERNEL_ADDRESS] == ("[kernel]", "")
    assert answers["0x7f0000000000", 0x7F00_0000_0000] is None


def test_the_profile_goes_by_the_file_that_most_places_are_in(decoded: dict[str, Any]) -> None:
    files = [decoded["stringTable"][mapping["filename"]] for mapping in decoded["mapping"]]
    assert files == [POSTGRES, "/usr/lib/libfilter.so", "[kernel]"]


def test_the_innermost_frame_is_first(decoded: dict[str, Any]) -> None:
    names = {f["id"]: decoded["stringTable"][f["name"]] for f in decoded["function"]}
    at = {place["id"]: names[place["line"][0]["functionId"]] for place in decoded["location"]}
    stacks = {tuple(at[place] for place in sample["locationId"]) for sample in decoded["sample"]}
    assert ("copy_to_user", "heap_getnext", "ExecHashJoin", "ExecutorRun") in stacks
