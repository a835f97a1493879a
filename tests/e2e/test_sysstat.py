"""Our series say what iostat and mpstat say of the same counters.

Both tools and our probes are shown two states of the kernel's counters, one after the other: files
of ours lie over those of /proc in a mount namespace of the tools'. So all look at the same numbers,
and figures may differ by the tools' rounding only.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from assay._core import Sampler
from assay.analysis.host.cpu_series import mpstat
from assay.analysis.host.disk_series import iostat
from assay.engines.providers.contract import ProviderError
from assay.engines.providers.debian import DebianProvider

SEED = 8
ROUNDING = 0.005 + 1e-9
FILES = ("diskstats", "stat", "uptime")
SHOW = "; ".join(["set -e", *[f'mount --bind "$0/{name}" /proc/{name}' for name in FILES]])
TOOLS = SHOW + '; "$1" -dxk -p ALL -o JSON -y 1 1 >"$3" & "$2" -P ALL -o JSON 1 1 >"$4"; wait $!'
# Both look as they start and once more a second later.
CHANGE_S = 0.5
ATTEMPTS = 5
INTERVAL_NS = 50_000_000
UPTIME_S = 1000.0
BETWEEN_S = 1.25


@dataclass
class Told:
    """What was told of the same two states: by the tools, and what our probes wrote."""

    disks: dict[str, dict[str, float]]
    cpus: dict[str, dict[str, float]]
    raw: Path

    @property
    def is_of_both(self) -> bool:
        """Whether everybody looked at the first state before there was the second."""
        ours = (_edges(self, stream) for stream in ("disks", "cpus"))
        return (
            any(row["r/s"] > 0 for row in self.disks.values())
            and self.cpus["all"]["usr"] > 0
            and all(frame.drop("time_ns").unique().height == frame.height for frame in ours)
        )


@pytest.fixture(scope="module")
def observations(server_place: Path, tmp_path_factory: pytest.TempPathFactory) -> Told:
    programs = _programs(server_place)
    if os.geteuid() != 0 or not _may_mount():
        pytest.skip("files cannot be laid over those of /proc here: not root")
    for _ in range(ATTEMPTS):
        observation = _looked(tmp_path_factory.mktemp("sysstat"), programs)
        if observation.is_of_both:
            return observation
    pytest.skip(f"this host is too busy: in {ATTEMPTS} attempts nobody saw both states")


def _looked(folder: Path, programs: list[Path]) -> Told:
    shown, raw = folder / "shown", folder / "raw"
    shown.mkdir()
    raw.mkdir()
    before, after = _states()
    _show(shown, before)
    samplers = [Sampler(name, raw, INTERVAL_NS, proc_root=shown) for name in ("disks", "system")]
    outputs = [folder / name for name in ("iostat.json", "mpstat.json")]
    command = ["unshare", "-m", "sh", "-c", TOOLS, shown, *programs, *outputs]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tools:
        time.sleep(CHANGE_S)
        _show(shown, after)
        error = tools.communicate(timeout=30)[1]
    for sampler in samplers:
        sampler.stop()
    assert tools.returncode == 0, error
    disks, cpus = (
        json.loads(path.read_text())["sysstat"]["hosts"][0]["statistics"][0] for path in outputs
    )
    return Told(
        {row["disk_device"]: row for row in disks["disk"]},
        {row["cpu"]: row for row in cpus["cpu-load"]},
        raw,
    )


def _programs(place: Path) -> list[Path]:
    """iostat and mpstat: the host's, else from Debian's archive, unpacked and not installed."""
    names = [shutil.which(name) for name in ("iostat", "mpstat")]
    if all(names):
        return [Path(str(path)) for path in names]
    home = place / "sysstat"
    home.mkdir(exist_ok=True)
    provider = DebianProvider()
    try:
        provider.unpack(provider.bring("sysstat", home, lambda *_: None), home)
    except ProviderError as error:
        pytest.skip(f"no sysstat here, and none can be had: {error}")
    return [home / "usr" / "bin" / name for name in ("iostat", "mpstat")]


def _may_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


def _states() -> tuple[dict[str, str], dict[str, str]]:
    """The host's counters as they are, and as they would be after some work of everything."""
    rng = random.Random(SEED)
    disks = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    stat = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    before = _texts(disks, stat, UPTIME_S)
    for line in (line for line in disks if int(line[3]) or int(line[7])):
        # Requests in flight are a gauge and no counter.
        for place in (p for p in range(3, len(line)) if p != 11):
            line[place] = str(int(line[place]) + rng.randrange(1, 900))
    for line in (line for line in stat if re.fullmatch(r"cpu\d+", line[0])):
        grown = [rng.randrange(20, 60) for _ in line[1:]]
        # Guests are within user and nice; iowait may go backwards.
        grown[4] = -5 if line[0] == "cpu0" else grown[4]
        grown[8:] = [grown[0] // 2, grown[1] // 4]
        line[1:] = [str(int(old) + new) for old, new in zip(line[1:], grown, strict=True)]
    return before, _texts(disks, stat, UPTIME_S + BETWEEN_S)


def _texts(disks: list[list[str]], stat: list[list[str]], uptime_s: float) -> dict[str, str]:
    return {
        "diskstats": "".join(" ".join(line) + "\n" for line in disks),
        "stat": "".join(" ".join(line) + "\n" for line in stat),
        "uptime": f"{uptime_s:.2f} {uptime_s:.2f}\n",
    }


def _show(shown: Path, texts: dict[str, str]) -> None:
    """Writes into files that are there: what is mounted is the file, not its name."""
    for name, text in texts.items():
        with (shown / name).open("r+" if (shown / name).exists() else "w") as file:
            file.write(text)
            file.truncate()


def _edges(observation: Told, stream: str) -> pl.DataFrame:
    """The first and the last of our samples, as if they were taken when the tools looked."""
    with pa.OSFile(str(observation.raw / f"{stream}.arrows")) as file:
        frame = pl.from_arrow(pa.ipc.open_stream(file).read_all())
    assert isinstance(frame, pl.DataFrame)
    first, last = frame["time_ns"].min(), frame["time_ns"].max()
    now = pl.when(pl.col("time_ns") == first).then(0).otherwise(round(BETWEEN_S * 1e9))
    return frame.filter(pl.col("time_ns").is_in([first, last])).with_columns(
        now.cast(pl.Int64).alias("time_ns"), pl.col(pl.Categorical).cast(pl.String)
    )


def _differing(ours: dict[str, Any], theirs: dict[str, float]) -> Iterator[str]:
    for name, value in theirs.items():
        own = next((ours[word] for word in (name, f"%{name}") if word in ours), None)
        # What nothing was asked of is null with us and 0 with them.
        if isinstance(value, float) and abs((own or 0.0) - value) > ROUNDING:
            yield f"{name}: {own} is not {value}"


def test_disks_are_as_iostat_says(observations: Told) -> None:
    ours = {row["device"]: row for row in iostat(_edges(observations, "disks"), 0).rows(named=True)}
    assert ours
    for device, figures in observations.disks.items():
        # Devices that never did anything are not in our record.
        assert list(_differing(ours.get(device, {}), figures)) == [], device


def test_cpus_are_as_mpstat_says(observations: Told) -> None:
    rows = mpstat(_edges(observations, "cpus"), 0, each_cpu=True).rows(named=True)
    ours = {row["cpu"]: row for row in rows}
    assert set(observations.cpus) == set(ours)
    for cpu, figures in observations.cpus.items():
        assert list(_differing(ours[cpu], figures)) == [], cpu
