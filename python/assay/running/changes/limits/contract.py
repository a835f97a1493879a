"""Interface of both versions of control groups: limiting, reading and counting."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assay.model.errors import RunFailedError
from assay.running.changes.undo import Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.running.changes.block_device import BlockDevice
    from assay.running.changes.limits.limit import Limits
    from assay.running.changes.undo import Journal

MEMBERS = "cgroup.procs"
# Counters of a group with their meaning: totals since it was made, but current and maximum memory.
COUNTERS = (
    "cpu_ns",
    "periods",
    "throttled_periods",
    "throttled_ns",
    "reads",
    "writes",
    "read_bytes",
    "written_bytes",
    "memory_bytes",
    "memory_peak_bytes",
    "memory_limit_hits",
    "oom_kills",
)
Counted = dict[str, int | None]


@dataclass(frozen=True)
class Wish:
    """The requested limits of a control group.

    Attributes:
        name: Name of its directory.
        limits: Limits in the units of `limit.NAMES`.
        cpus: CPUs that the engine may run on, if their number is limited.
        device: The disk to which disk limits apply; None means no disk limits.
        device_is_ours: Whether no other program uses that device.
    """

    name: str
    limits: Limits
    cpus: Sequence[int] = ()
    device: BlockDevice | None = None
    device_is_ours: bool = False


class Group(Protocol):
    """Interface of a control group that was made for one run."""

    version: int
    # Sentences on these limits for readers.
    notes: list[str]

    def settle(self, journal: Journal) -> None:
        """Limit writes that the kernel makes outside the engine's processes.

        The caller must call it after the data are loaded.
        """
        ...

    def members(self) -> list[Path]:
        """Return the files to which a process writes its pid to join the control group."""
        ...

    def effective(self) -> Mapping[str, float | None]:
        """Return the control group's limits as the kernel reports them; None if it does not."""
        ...

    def counted(self) -> Counted:
        """Return the control group's counters by the names of `COUNTERS`; None if not counted."""
        ...


def made(directory: Path, journal: Journal) -> None:
    """Make a control group's directory, after the journal has it.

    Raises `RunFailedError`.
    """
    if directory.exists():
        raise RunFailedError(f"--limit: the control group {directory} exists already: remove it")
    journal.note(Step("leave_group", str(directory), f"control group {directory}"))
    try:
        directory.mkdir()
    except OSError as error:
        raise RunFailedError(
            f"--limit: the control group {directory} cannot be created: {error.strerror}. Run "
            "as root, or remove --limit"
        ) from error


def written(file: Path, text: str) -> None:
    """Write one value to a file of a control group.

    The `RunFailedError` says how to fix a failure.
    """
    try:
        file.write_text(text, encoding="ascii")
    except FileNotFoundError as error:
        raise RunFailedError(
            f"--limit: this kernel has no {file.name}, because it was built without that limit: "
            "remove the limit"
        ) from error
    except OSError as error:
        raise RunFailedError(
            f"--limit: the kernel rejects {text!r} in {file}: {error.strerror}. A parent "
            "control group may allow less: use a smaller limit, or remove it"
        ) from error


def read_text(file: Path) -> str | None:
    """Return a kernel file's text; None if the kernel has no such file."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def keyed(file: Path) -> dict[str, int]:
    """Return the values in a kernel file of lines `name value`."""
    pairs = (line.split() for line in (read_text(file) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}  # noqa: PLR2004 - a pair


def whole(text: str | None) -> int | None:
    """Return a number from a kernel file's text; None for empty text or `max`."""
    return int(text) if text is not None and text.lstrip("-").isdecimal() else None
