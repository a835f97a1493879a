"""A process that gets the number of a sampled one gives it no names and gets no signal."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from assay.probes.contract import Target
from assay.probes.profile import ProfileProbe
from assay.record.layout import ACCOUNT_ENGINE
from tests.reused import skip_unless_numbers_can_be_chosen, started_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOBODY = 65534
# Generated code that computes: mov rax, 0x2000000; dec rax; jnz -5; ret.
ENGINE = """
import ctypes, mmap, time
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code.write(bytes.fromhex("48c7c00000000248ffc875fbc3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
print(hex(address), flush=True)
input()
until = time.monotonic() + 0.5
while time.monotonic() < until:
    ctypes.CFUNCTYPE(ctypes.c_long)(address)()
"""
# A shell whose program is named as a JVM's library is, so that it passes for a JVM.
STRANGER = """
trap 'echo signalled' QUIT
echo "$1 1000 WRITTEN_BY_STRANGER" >/tmp/perf-$$.map
echo ready
read line
echo end
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that every user may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        Path(path).chmod(0o755)
        yield Path(path)


@pytest.fixture
def stranger_after_engine(
    tmp_path: Path, folder: Path
) -> Iterator[tuple[ProfileProbe, subprocess.Popen[str]]]:
    """A probe whose process has ended, and a process of another user that has its number."""
    skip_unless_numbers_can_be_chosen()
    if platform.machine() != "x86_64":
        pytest.skip("the generated code is of x86-64")
    program = shutil.copy(shutil.which("sh") or "sh", folder / "libjvm.so")
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    engine = subprocess.Popen([sys.executable, "-c", ENGINE], **pipes)
    address = engine.stdout.readline()[2:-4] + "000"
    probe = ProfileProbe()
    try:
        probe.start(Target(tmp_path, 0.1, ((engine.pid, ACCOUNT_ENGINE),), profile_hz=999))
    except OSError as error:
        engine.kill()
        pytest.skip(f"the kernel samples no processes: {error}")
    engine.communicate("\n")
    start: Callable[[], subprocess.Popen[str]] = lambda: subprocess.Popen(  # noqa: E731
        [program, "-c", STRANGER, "sh", address],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        **pipes,
    )
    stranger = started_as(engine.pid, start)
    assert stranger.stdout.readline() == "ready\n"
    yield probe, stranger
    stranger.kill()
    stranger.communicate()
    Path(tempfile.gettempdir(), f"perf-{stranger.pid}.map").unlink()


def test_its_names_are_not_believed(
    tmp_path: Path, stranger_after_engine: tuple[ProfileProbe, subprocess.Popen[str]]
) -> None:
    probe, _ = stranger_after_engine
    probe.stop()
    streams = {
        name: pl.read_ipc_stream(tmp_path / f"{name}.arrows")
        for name in ("frames", "modules", "symbols")
    }
    frames = streams["frames"].join(streams["modules"], on="module")
    generated = frames.filter(pl.col("path").cast(pl.String).str.starts_with("[jit"))
    names = generated.join(streams["symbols"], on="frame")["name"]
    assert set(names) == {None}


def test_it_gets_no_signal(
    stranger_after_engine: tuple[ProfileProbe, subprocess.Popen[str]],
) -> None:
    probe, stranger = stranger_after_engine
    probe.stop()
    heard, _ = stranger.communicate("\n")
    assert heard == "end\n"
