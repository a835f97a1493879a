"""`assay ceiling` on the disk that is there: small, short, and stopped in every way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.analysis.ceiling.trials import read_ceiling
from assay.model.errors import RecordUnreadableError
from assay.record.reader import Run
from tests.e2e.conftest import DISK, MEMORY, Lab, end, wait_until
from tests.schemas import CEILING_SCHEMA, validator

SMALL = ["--quick", "--size", "128MB", "--time", "5ms", "--rounds", "1"]
ENDLESS = ["--only", "disk", "--size", "128MB", "--time", "200ms", "--rounds", "100"]
WITHOUT_IO_URING = Path(__file__).with_name("without_io_uring.py")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory on a disk; the system's temporary one may be memory."""
    with tempfile.TemporaryDirectory(dir=DISK) as made:
        yield Path(made)


def begun(lab: Lab, place: Path) -> subprocess.Popen[str]:
    """A sweep under way, of which a trial has ended."""
    started = lab.begin("ceiling", *ENDLESS, "--dir", str(place))

    def tried() -> bool:
        assert started.poll() is None, started.communicate()
        try:
            return not Run(lab.latest()).table("ceiling-disk").is_empty()
        except (RecordUnreadableError, OSError, ValueError):
            return False

    wait_until(tried, "no trial ended")
    return started


def test_a_sweep_is_a_record_like_any_other(lab: Lab, place: Path) -> None:
    document = lab.document("ceiling", *SMALL, "--dir", str(place))
    validator(CEILING_SCHEMA).validate(document)
    assert list(place.iterdir()) == []
    assert document["status"] == "complete"
    reads = [p for p in document["disk"] if p["operation"] == "read" and p["cache"] == "direct"]
    assert {p["pattern"] for p in reads} == {"sequential", "random"}
    assert {p["depth"] for p in reads} == {1, 16}
    assert all(p["iops"]["value"] > 0 and p["iops"]["rounds"] == 1 for p in document["disk"])
    assert {p["kernel"] for p in document["memory"]} == {"read", "write", "copy", "triad"}
    run = Run(Path(document["path"]))
    assert run.broken_seals() == []
    assert run.environment["file"]["size_bytes"] == 128 << 20
    ceiling = read_ceiling(run)
    page, twice = ceiling.iops(4096, 1), ceiling.iops(8192, 1)
    between = ceiling.iops(6000, 1)
    assert page is not None
    assert twice is not None
    assert between is not None
    low, high = sorted((page.value, twice.value))
    assert low * 0.999 <= between.value <= high * 1.001
    shown = lab.assay("show", "latest")
    assert shown.returncode == 0
    assert "Reads past the page cache" in shown.stdout
    assert document["run"] in lab.assay("runs").stdout
    assert lab.assay("report", "latest").stdout.strip() == document["report"]
    explained = lab.assay("explain", "latest")
    assert explained.returncode == 1
    assert "is a host's ceiling, not a run of a workload" in explained.stderr


def test_a_sweep_that_was_stopped_is_readable_and_leaves_no_file(lab: Lab, place: Path) -> None:
    code, errors = end(begun(lab, place))
    assert code == 2
    assert "stopped by Ctrl-C" in errors
    assert list(place.iterdir()) == []
    assert lab.status() == "interrupted"
    document = lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert document["disk"] != []


def test_a_sweep_that_was_killed_leaves_no_file(lab: Lab, place: Path) -> None:
    free = shutil.disk_usage(place).free
    started = begun(lab, place)
    os.kill(started.pid, signal.SIGKILL)
    started.communicate()
    assert list(place.iterdir()) == []
    # Others write, too; but no 128 MiB of ours may stay away.
    wait_until(lambda: shutil.disk_usage(place).free > free - (100 << 20), "blocks are left")
    assert lab.status() == "running"
    assert lab.document("show", "latest")["disk"] != []


def test_without_io_uring_threads_read_and_it_is_said(lab: Lab, place: Path) -> None:
    small = [*SMALL, "--only", "disk", "--dir", str(place)]
    prefix = (sys.executable, str(WITHOUT_IO_URING))
    document = lab.document("ceiling", *small, prefix=prefix)
    assert document["io_uring_refusal"] is not None
    assert {point["method"] for point in document["disk"]} == {"pread"}
    assert max(point["depth"] for point in document["disk"]) == 16
    text = " ".join(lab.assay("show", "latest").stdout.split())
    assert "io_uring is not granted here" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dir", str(MEMORY)), ["tmpfs", "memory", "--dir"]),
        (("--dir", "/nowhere"), ["/nowhere is not a directory", "--dir"]),
        (("--size", "1024TB"), ["needs 1024 TiB", "--size"]),
        (("--size", "1MB"), ["128 MiB or more"]),
        (("--size", "large"), ["--size", "4GB"]),
        (("--time", "soon"), ["--time", "250ms"]),
        (("--time", "1h"), ["5 ms to 60.0 s"]),
        (("--only", "dsk"), ["did you mean 'disk'?"]),
    ],
)
def test_a_wrong_word_is_one_message(lab: Lab, arguments, message) -> None:
    result = lab.assay("ceiling", *arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert all(word in result.stderr for word in message), result.stderr
    assert not lab.runs.exists() or not list(lab.runs.iterdir())


@contextmanager
def own_disk(root: Path, size_bytes: int) -> Iterator[Path]:
    """A file system of our own on a file, where the host lets us make one."""
    image, point = root / "disk.img", root / "mounted"
    image.touch()
    os.truncate(image, size_bytes)
    point.mkdir()
    made = subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], capture_output=True, check=False)
    mounted = subprocess.run(
        ["mount", "-o", "loop", str(image), str(point)], capture_output=True, check=False
    )
    if made.returncode or mounted.returncode:
        pytest.skip("file systems cannot be made and mounted here")
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mkfs.ext4") is None, reason="needs root and mkfs.ext4"
)
def test_a_disk_that_fills_up_is_told_and_given_back(tmp_path: Path) -> None:
    from assay import _core

    with tempfile.TemporaryDirectory(dir=DISK) as root, own_disk(Path(root), 32 << 20) as point:
        before = shutil.disk_usage(point).free
        sweep = _core.CeilingSweep(tmp_path, 1)
        with pytest.raises(OSError, match=r"the disk is full.*--size"):
            sweep.open(point, 64 << 20)
        sweep.finish()
        wait_until(lambda: shutil.disk_usage(point).free == before, "blocks are left")
