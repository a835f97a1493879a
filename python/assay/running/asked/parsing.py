"""Parses values of options from the user's text.

Error messages say how to fix the text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.units import NS_PER_S, parse_duration_s, whole_number
from assay.record.layout import LOADED

if TYPE_CHECKING:
    from collections.abc import Sequence

PARAMETERS_DEFAULT = "default"
PARAMETERS = (PARAMETERS_DEFAULT, "drawn")
PREPARED, TEXT = "prepared", "text"
STATEMENTS = (PREPARED, TEXT)
POWER, THROUGHPUT, FULL, STEADY = "power", "throughput", "full", "steady"
TESTS = (POWER, THROUGHPUT, FULL, STEADY)
PINNED = ("engine", "client")
PROBES_ALL, PROBES_NONE = "all", "none"
STATE_HOT, STATE_COLD, STATE_OS_WARM, STATE_LOADED = "hot", "cold", "os-warm", LOADED
STATES = (STATE_HOT, STATE_COLD, STATE_OS_WARM, STATE_LOADED)


def parse_settings(texts: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Return settings from `key=value` texts of an option.

    Raises:
        UsageError: If a text does not have that form, or a key occurs twice.
    """
    settings: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{option} {text}: write it as {option} name=value")
        if key.strip() in settings:
            raise UsageError(f"{option} {key.strip()} is given twice")
        settings[key.strip()] = value.strip()
    return settings


def read_prepare(files: Sequence[str], folder: Path = Path()) -> dict[str, str]:
    """Return the texts of SQL files in a folder, by the name under which they were given.

    Raises:
        UsageError: If a file cannot be read, is empty, or is given twice.
    """
    texts: dict[str, str] = {}
    for file in files:
        if file in texts:
            raise UsageError(f"--prepare {file} is given twice")
        try:
            texts[file] = (folder / file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"--prepare {file}: the file is not UTF-8 ({error.reason})") from error
        except OSError as error:
            raise UsageError(
                f"--prepare {file}: the file cannot be read: {error.strerror}"
            ) from error
        if not texts[file].strip():
            raise UsageError(f"--prepare {file}: the file contains no statement: remove the option")
    return texts


# No host has enough free ports and descriptors for more sessions.
CLIENTS_MAX = 100_000
# Each snapshot of a device recovers the database once, and the workload runs until the last one.
COPIES_MAX = 10_000
# Each stream is planned before the run, which takes some 10 ms.
STREAMS_MAX = 1_000
# The driver uses 64-bit seeds, which the record stores as signed numbers.
SEED_MAX = 2**63 - 1
# The driver counts nanoseconds, and the passes of a load with 32 bits.
DURATION_MIN_S, DURATION_MAX_S = 1 / NS_PER_S, 365 * 86_400
PASSES_MAX = 2**32 - 1
# The driver starts about 2 million operations a second; a plan with far more would fill the disk.
RATE_MAX_PER_S = 10_000_000


def parse_state(text: str) -> tuple[str, int]:
    """Return cache state and number of untimed passes, from text such as `hot:3`.

    Raises:
        UsageError: If the text is not one of these.
    """
    name, separator, passes = text.partition(":")
    number = whole_number(passes) if separator else int(name == STATE_HOT)
    is_counted = name == STATE_HOT and number is not None and 1 <= number <= PASSES_MAX
    if name not in STATES or number is None or (separator and not is_counted):
        raise UsageError(
            f"--state {text}: write cold, os-warm, loaded, hot, or hot:N for N passes (N from 1 to"
            f" {PASSES_MAX:,})"
        )
    return name, number


def parse_probes(text: str) -> tuple[str, ...] | None:
    """Return names of probes from a text such as `system,disks`; None for `all`, empty for `none`.

    Raises:
        UsageError: If the text has no name, or has names together with `all` or `none`.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if names in ((PROBES_ALL,), (PROBES_NONE,)):
        return None if names == (PROBES_ALL,) else ()
    if not all(names) or {PROBES_ALL, PROBES_NONE} & set(names):
        raise UsageError(f"--probes {text}: write it as all, none, or names such as system,disks")
    return names


def number_of_clients(said: str | int) -> int:
    """Return the number of clients of a run, from the user's text or a default.

    Raises:
        UsageError: If the text is not a number of clients, or is a list, which only `assay sweep`
            takes.
    """
    text = str(said)
    if "," in text:
        raise UsageError(
            f"--clients {text}: a run has one number of clients; assay sweep WORKLOAD --clients"
            f" {text} makes a run of each"
        )
    number = whole_number(text)
    if number is None or not 1 <= number <= CLIENTS_MAX:
        raise UsageError(f"--clients {text}: write a whole number from 1 to {CLIENTS_MAX:,}")
    return number


def duration_s(option: str, text: str) -> float:
    """Return the seconds of a text such as `30s`.

    Raises:
        UsageError: If the text is not a valid duration.
    """
    try:
        seconds = parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; write it like 30s, 1.5m or 200ms") from error
    if 0 < seconds < DURATION_MIN_S:
        raise UsageError(f"{option} {text}: the minimum is 1 ns, that is, 0.000001ms")
    if seconds > DURATION_MAX_S:
        raise UsageError(f"{option} {text}: the maximum is {DURATION_MAX_S:,} s, a year")
    return seconds


def above_zero(option: str, number: float) -> float:
    """Return a number of an option unchanged if it is above 0.

    Raises `UsageError` if the number is not above 0.
    """
    if not 0 < number < float("inf"):
        raise UsageError(f"{option} {number:g}: the number must be above 0")
    return number


def rate_per_s(rate: float) -> float:
    """Return the value of `--rate` in operations per second.

    Raises `UsageError` if no driver can reach it.
    """
    if above_zero("--rate", rate) > RATE_MAX_PER_S:
        raise UsageError(f"--rate {rate:g}: the maximum is {RATE_MAX_PER_S:,} operations a second")
    return rate


def probe_interval_s(text: str) -> float:
    """Return the seconds between two samples of a probe.

    Raises `UsageError` for an interval out of range.
    """
    interval_s = duration_s("--probe-interval", text)
    if not 0.001 <= interval_s <= 60:  # noqa: PLR2004 - a range of sense, told in the message
        raise UsageError(f"--probe-interval {text}: write a time between 1ms and 60s")
    return interval_s
