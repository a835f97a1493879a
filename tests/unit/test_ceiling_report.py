"""A ceiling as people see it: document, terminal, page, exports."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from assay.model.errors import UsageError
from assay.report.build import build
from assay.report.ceiling.charts import ABOUT, TITLES, charts_of
from assay.report.ceiling.terminal import ceiling_line, ceiling_lines
from assay.report.exports import export
from assay.report.kept import stored
from tests.ceilings import RUN_ID, disk_trial, iops_of, write_ceiling
from tests.schemas import CEILING_SCHEMA, validator


def text_of(tmp_path: Path, **given: object) -> str:
    return "\n".join(ceiling_lines(build(write_ceiling(tmp_path, **given).dir)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"status": "interrupted", "disk": []},
        {"medium": None, "io_uring_refusal": "Operation not permitted"},
        {"disk": [disk_trial(1, 4096, 1, "random")]},
    ],
)
def test_every_document_is_of_the_schema(tmp_path: Path, given: dict) -> None:
    document = build(write_ceiling(tmp_path, **given).dir)
    validator(CEILING_SCHEMA).validate(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == stored(Path(document["path"]))


def test_a_record_without_streams_has_a_document(tmp_path: Path) -> None:
    run = write_ceiling(tmp_path, status="interrupted")
    for stream in (run.dir / "raw").iterdir():
        stream.unlink()
    document = build(run.dir)
    validator(CEILING_SCHEMA).validate(document)
    assert document["verdict"] == "unknown"
    assert "No trial of the disk ended." in ceiling_lines(document)


class TestTerminal:
    def test_the_table_has_sizes_patterns_and_depths(self, tmp_path: Path) -> None:
        lines = text_of(tmp_path).splitlines()
        (row,) = [line for line in lines if line.startswith("  8 KiB  ") and len(line.split()) == 6]
        expected = [
            f"{float(f'{iops_of(8192, depth, pattern):.3g}'):,.0f}"
            for depth in (1, 16)
            for pattern in ("sequential", "random")
        ]
        assert row.split()[2:] == expected
        assert lines[0].startswith("What sda of bench can do")
        assert lines[0].endswith("VALID")

    def test_eighty_columns_hold_it(self, tmp_path: Path) -> None:
        text = text_of(tmp_path, io_uring_refusal="Operation not permitted", medium=None)
        assert max(len(line) for line in text.splitlines() if "Report" not in line) <= 80

    def test_a_refused_ring_is_told(self, tmp_path: Path) -> None:
        text = text_of(tmp_path, io_uring_refusal="Operation not permitted")
        assert "io_uring is not granted here (Operation not permitted)" in " ".join(text.split())

    def test_joined_requests_are_told(self, tmp_path: Path) -> None:
        joined = [disk_trial(n, 4096, 16, "sequential", device_requests=1000) for n in (1, 2, 3)]
        text = " ".join(text_of(tmp_path, disk=joined).split())
        assert "the block layer merged adjacent requests before the device saw them" in text
        assert "4 KiB sequential, 16 at a time" in text

    def test_a_partial_one_says_so(self, tmp_path: Path) -> None:
        text = text_of(tmp_path, status="interrupted")
        assert "interrupted: stopped by Ctrl-C" in text
        assert "UNKNOWN" in text

    def test_a_line_of_the_list(self, tmp_path: Path) -> None:
        line = ceiling_line(build(write_ceiling(tmp_path).dir))
        assert line.startswith("valid")
        assert line.endswith(RUN_ID)
        assert "9,610/s" in line


class TestPage:
    def test_it_has_every_chart_and_needs_no_network(self, tmp_path: Path) -> None:
        document = build(write_ceiling(tmp_path).dir)
        page = Path(document["report"]).read_text(encoding="utf-8")
        for name in TITLES:
            assert f'data-chart="{name}"' in page
            assert ABOUT[name].replace("'", "&#39;") in page
        assert "<script src" not in page

    def test_charts_draw_every_point(self, tmp_path: Path) -> None:
        document = build(write_ceiling(tmp_path).dir)
        drawn = charts_of(document)
        assert set(drawn) == set(TITLES) == set(ABOUT)
        specified = drawn["iops"].to_dict()
        (rows,) = specified["datasets"].values()
        direct = [point for point in document["disk"] if point["operation"] == "read"]
        assert [row["value"] for row in rows] == [point["iops"]["value"] for point in direct]

    def test_foreign_words_do_nothing(self, tmp_path: Path) -> None:
        bad = "<script>alert(1)</script>"
        medium = {"name": bad, "model": bad, "driver": "virtio_blk"}
        medium |= dict.fromkeys(("write_cache", "logical_block_bytes", "physical_block_bytes"))
        document = build(write_ceiling(tmp_path, medium={**medium, "queue_requests": None}).dir)
        assert bad not in Path(document["report"]).read_text(encoding="utf-8")

    def test_without_trials_it_says_so(self, tmp_path: Path) -> None:
        document = build(write_ceiling(tmp_path, disk=[], status="interrupted").dir)
        page = Path(document["report"]).read_text(encoding="utf-8")
        assert "No trial of the disk ended." in page
        assert "stopped by Ctrl-C" in page


class TestExport:
    def test_points_machine_and_streams_are_tables(self, tmp_path: Path) -> None:
        written = export(write_ceiling(tmp_path), "csv", tmp_path / "out")
        names = [path.name for path in written]
        streams = [f"ceiling-{name}.csv" for name in ("core", "disk", "memory")]
        assert names == ["points.csv", "machine.csv", *streams]
        points = pl.read_csv(written[0])
        chosen = points.filter(size_bytes=8192, depth=1, pattern="random", operation="read")
        assert chosen["iops"].item() == pytest.approx(iops_of(8192, 1, "random"), rel=2e-3)
        assert chosen["iops_low"].item() < chosen["iops"].item() < chosen["iops_high"].item()
        assert set(pl.read_csv(written[1])["of"]) == {"memory", "loads", "cores"}

    def test_the_document_is_exported(self, tmp_path: Path) -> None:
        (path,) = export(write_ceiling(tmp_path), "json", tmp_path / "ceiling.json")
        validator(CEILING_SCHEMA).validate(json.loads(path.read_text(encoding="utf-8")))

    def test_it_has_no_samples(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"is a host's ceiling, and .* needs CPU samples:"):
            export(write_ceiling(tmp_path), "folded")
