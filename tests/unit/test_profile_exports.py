"""Profiles for other tools, from samples that are known one by one."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import BinaryIO
from xml.etree import ElementTree

import polars as pl
import pytest

from assay.analysis.profile.call_tree import call_tree
from assay.model.errors import UsageError
from assay.record.reader import Run
from assay.report.exports import export
from assay.report.page.flame_layout import layout
from assay.report.profile_exports import firefox, flamegraph, folded, formats
from assay.report.profile_exports.firefox_code import breakpad_id
from assay.report.profile_exports.protobuf import content, number, varint
from assay.report.profile_exports.source import Source
from assay.report.profile_exports.stack_tree import stack_tree
from tests.known_profile import BUILD_ID, a_source
from tests.profiles import MadeProfile
from tests.records import MS, PASSES, PID, write_run

GOLDEN = Path(__file__).parents[1] / "golden" / "profile.folded"
SVG = "{http://www.w3.org/2000/svg}"


def written(module: ModuleType, source: Source) -> bytes:
    out = io.BytesIO()
    module.write(source, out)
    return out.getvalue()


class TestFolded:
    def test_lines_are_as_they_were(self) -> None:
        assert written(folded, a_source()).decode() == GOLDEN.read_text("utf-8")

    def test_an_operation_alone_has_its_lines_and_no_others(self) -> None:
        all_lines = GOLDEN.read_text("utf-8").splitlines()
        some = written(folded, a_source("q09")).decode().splitlines()
        assert some == [line for line in all_lines if line.startswith("q09;")]

    def test_names_cannot_break_a_line(self) -> None:
        source = a_source()
        frames = source.profile.frames.with_columns(label=pl.lit("Lmap;::get\nall"))
        hostile = replace(source, profile=replace(source.profile, frames=frames))
        lines = written(folded, hostile).decode().splitlines()
        assert sum(int(line.rpartition(" ")[2]) for line in lines) == 10
        assert {frame for line in lines for frame in line.rpartition(" ")[0].split(";")[1:]} == {
            "Lmap:::get all",
            "Lmap:::get all_[k]",
        }


class TestLayout:
    def test_a_caller_is_as_wide_as_its_callees_and_itself(self) -> None:
        tree = call_tree(a_source().profile)
        names = [tree["labels"][label] for label in tree["label"]]
        placed = {names[r.node]: (r.depth, r.left, r.width) for r in layout(tree)}
        assert placed["ExecutorRun"] == (0, 0.0, 1.0)
        assert placed["0x7f0000000000"] == (1, 0.0, 0.1)
        assert placed["ExecHashJoin"] == (1, 0.1, 0.9)
        assert placed["<[u8; 16] as filter::Filter>::keep"] == (2, 0.1, 0.2)
        assert placed["heap_getnext"] == (2, 0.3, 0.5)
        assert placed["copy_to_user"] == (3, 0.3, 0.2)

    def test_narrow_ones_are_left_out_with_what_they_call(self) -> None:
        tree = call_tree(a_source().profile)
        names = {tree["labels"][tree["label"][r.node]] for r in layout(tree, 0.21)}
        assert names == {"ExecutorRun", "ExecHashJoin", "heap_getnext"}

    def test_callers_come_first(self) -> None:
        tree = call_tree(a_source().profile)
        seen = {-1}
        for rectangle in layout(tree):
            assert tree["parent"][rectangle.node] in seen
            seen.add(rectangle.node)

    def test_without_samples_there_is_nothing(self) -> None:
        empty = {"samples": 0, "total": [], "parent": [], "label": [], "module": []}
        assert layout(empty | {"labels": [], "modules": []}) == []


class TestFlamegraph:
    def test_it_is_well_formed_whatever_names_hold(self) -> None:
        source = a_source()
        hostile = "]]></script><script>alert(1)\x00\x1b&<T>"
        frames = source.profile.frames.with_columns(label=pl.lit(hostile))
        svg = written(
            flamegraph, replace(source, profile=replace(source.profile, frames=frames))
        ).decode()
        root = ElementTree.fromstring(svg)  # noqa: S314 - we wrote it
        assert len(list(root.iter(f"{SVG}script"))) == 1
        titles = [title.text or "" for title in root.iter(f"{SVG}title")]
        assert sum(title.startswith("]]></script>") for title in titles) > 1

    def test_it_asks_for_nothing_from_elsewhere(self) -> None:
        svg = written(flamegraph, a_source("q09")).decode()
        for name in ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"):
            svg = svg.replace(name, "")
        assert "://" not in svg
        assert "q09" in svg

    def test_without_a_script_names_are_there(self) -> None:
        root = ElementTree.fromstring(written(flamegraph, a_source()))  # noqa: S314 - ours
        texts = [text.text for text in root.iter(f"{SVG}text")]
        assert "heap_getnext" in texts
        assert "scan 50%" in texts


class TestFirefox:
    def test_what_lies_between_samples_is_idle(self) -> None:
        threads = firefox.profile(a_source())["threads"]
        samples = next(thread["samples"] for thread in threads if thread["tid"] == 50)
        assert samples["time"] == [0, 2, 4, 6, 8, 10, 20, 22, 24, 26]
        assert [stack is None for stack in samples["stack"]] == [
            time in {0, 20} for time in samples["time"]
        ]
        assert sum(samples["threadCPUDelta"]) == 8 * 2_000_000

    def test_of_many_threads_the_busiest_are_shown_at_first(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(firefox, "VISIBLE_MAX", 1)
        exported = firefox.profile(a_source())
        named = [
            exported["threads"][at]["name"] for at in exported["meta"]["initialVisibleThreads"]
        ]
        assert named == ["session 0", "postgres"]

    def test_an_operation_alone_has_its_interval(self) -> None:
        exported = firefox.profile(a_source("q01"))
        names = [
            exported["shared"]["stringArray"][at]
            for at in exported["threads"][0]["markers"]["name"]
        ]
        assert names == ["q01"]

    def test_callers_stand_before_what_they_call(self) -> None:
        stacks = firefox.profile(a_source())["shared"]["stackTable"]
        for at, caller in enumerate(stacks["prefix"]):
            assert caller is None or caller < at

    def test_addresses_are_what_a_reader_of_json_can_hold(self) -> None:
        frames = firefox.profile(a_source())["shared"]["frameTable"]
        assert min(frames["address"]) == -1
        assert max(frames["address"]) < 1 << 53

    def test_every_column_is_as_long_as_its_table(self) -> None:
        document = json.loads(gzip.decompress(written(firefox, a_source())))
        for table in (value for value in document["shared"].values() if isinstance(value, dict)):
            lengths = {len(column) for column in table.values() if isinstance(column, list)}
            assert lengths == {table["length"]}

    def test_a_category_is_the_default_one(self) -> None:
        categories = firefox.profile(a_source())["meta"]["categories"]
        assert [c["name"] for c in categories if c["color"] == "grey"] == [firefox.OTHER]

    def test_a_build_id_is_a_breakpad_id(self) -> None:
        assert breakpad_id(BUILD_ID) == "03020100050407060809" + "0A0B0C0D0E0F" + "0"
        assert breakpad_id("0a0b") == "00000B0A" + "0" * 24 + "0"
        assert breakpad_id(None) == ""


class TestWireFormat:
    # The examples of the format's documentation.
    @pytest.mark.parametrize(
        ("value", "encoded"),
        [(0, "00"), (1, "01"), (127, "7f"), (150, "9601"), ((1 << 64) - 1, "f" * 18 + "01")],
    )
    def test_numbers(self, value: int, encoded: str) -> None:
        assert varint(value).hex() == encoded

    def test_fields(self) -> None:
        assert number(1, 150).hex() == "089601"
        assert number(1, 0) == b""
        assert content(2, b"testing").hex() == "120774657374696e67"


class TestStackTree:
    def test_only_what_is_needed_is_there(self) -> None:
        stacks = a_source().profile.stacks
        tree = stack_tree(stacks, [13, 17])
        assert set(tree.index) == {10, 11, 12, 13, 17}
        assert tree.caller == [-1, 0, 1, 2, 0]
        assert tree.frame == [0, 1, 3, 4, 7]

    def test_callers_may_stand_anywhere(self) -> None:
        stacks = a_source().profile.stacks.reverse()
        assert stack_tree(stacks, [13]).caller == [-1, 0, 1, 2]


@pytest.mark.parametrize("module", formats.FORMATS.values(), ids=formats.FORMATS)
def test_the_same_profile_gives_the_same_bytes(module: ModuleType) -> None:
    assert written(module, a_source()) == written(module, a_source())


class TestRecords:
    """From the streams of a record."""

    @pytest.fixture
    def run(self, tmp_path: Path) -> Run:
        run = Run(write_run(tmp_path / "runs"))
        events = run.table("events").filter(pl.col("phase") == "measured")
        made = MadeProfile(threads=[{"time_ns": 0, "pid": PID, "tid": PID, "name": "engine"}])
        for operation, begun in events.select("operation", "started_ns").iter_rows():
            if operation != "q03":
                made.add(begun + MS, "main", f"run_{operation}", count=2, pid=PID, tid=PID)
        made.write(run.dir / "raw")
        return run

    def test_what_is_read_is_exported(self, run: Run, tmp_path: Path) -> None:
        (path,) = export(run, "folded", tmp_path / "all")
        lines = path.read_text("utf-8").splitlines()
        assert lines == [
            f"q01;main;run_q01 {2 * PASSES}",
            f"q02;main;run_q02 {2 * PASSES}",
        ]
        (path,) = export(run, "firefox", tmp_path / "one", "q02")
        document = json.loads(gzip.decompress(path.read_bytes()))
        assert document["meta"]["product"] == "tpch on DuckDB"
        assert [thread["name"] for thread in document["threads"]] == ["session 0", "engine"]
        assert document["threads"][0]["markers"]["length"] == PASSES

    def test_an_operation_without_samples_or_that_is_none(self, run: Run, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"no sample fell into q03: .*--min-time"):
            export(run, "pprof", tmp_path / "out", "q03")
        with pytest.raises(UsageError, match=r"no operation 'q20' was measured; did you mean"):
            export(run, "pprof", tmp_path / "out", "q20")


class TestFiles:
    @pytest.fixture
    def run(self, tmp_path: Path) -> Run:
        return Run(write_run(tmp_path / "runs"))

    @pytest.fixture
    def profiled(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.setattr(formats, "read_source", lambda _, operation: a_source(operation))
        return run

    @pytest.mark.parametrize("to", formats.FORMATS)
    def test_a_run_without_samples_says_what_to_do(self, run: Run, to: str, tmp_path: Path) -> None:
        with pytest.raises(
            UsageError,
            match=r"has no CPU profile: measure again with `assay run \.\.\. --profile`\.",
        ):
            export(run, to, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(("to", "module"), formats.FORMATS.items(), ids=formats.FORMATS)
    def test_a_file_is_written(
        self, profiled: Run, to: str, module: ModuleType, tmp_path: Path
    ) -> None:
        (path,) = export(profiled, to, tmp_path / "new" / "mine")
        assert path == tmp_path / "new" / "mine"
        assert path.read_bytes() == written(module, a_source())
        assert [p.name for p in path.parent.iterdir()] == ["mine"]

    def test_in_a_directory_the_file_names_run_and_operation(
        self, profiled: Run, tmp_path: Path
    ) -> None:
        (path,) = export(profiled, "pprof", tmp_path, "q09")
        assert path == tmp_path / f"{profiled.id}-q09.pb.gz"

    def test_without_a_place_it_is_the_working_directory(
        self, profiled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (path,) = export(profiled, "folded")
        assert path.absolute() == tmp_path / f"{profiled.id}.folded"

    @pytest.mark.parametrize("out", ["mine", None])
    def test_an_earlier_file_is_not_overwritten(
        self, profiled: Run, out: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (path,) = export(profiled, "folded", None if out is None else Path(out))
        path.write_text("of the user", encoding="utf-8")
        with pytest.raises(UsageError, match=f"{path} exists already: remove it.*--out"):
            export(profiled, "folded", None if out is None else Path(out))
        assert path.read_text(encoding="utf-8") == "of the user"

    def test_a_device_is_written_directly(self, profiled: Run) -> None:
        assert export(profiled, "folded", Path(os.devnull)) == [Path(os.devnull)]
        assert not Path(f"{os.devnull}.partial").exists()

    def test_a_file_that_has_no_room_is_not_left_half(
        self, profiled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fill(_: Source, file: BinaryIO) -> None:
            file.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(folded, "write", fill)
        with pytest.raises(UsageError, match="No space left"):
            export(profiled, "folded", tmp_path / "out" / "mine")
        assert not (tmp_path / "out").exists()

    def test_a_place_that_cannot_be_written_is_named(self, profiled: Run, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match=r"cannot write .*file/mine.*--out"):
            export(profiled, "pprof", tmp_path / "file" / "mine")

    def test_tables_are_of_a_whole_run(self, run: Run, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"csv exports a whole run.*flamegraph"):
            export(run, "csv", tmp_path, "q01")
