"""Counts the cores that the processes of an account used, for findings about CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.analysis.host.accounts import Accounts


def cores_of(used: Accounts, account: str) -> float | None:
    """Return the mean number of cores that an account's processes used; None without samples."""
    seconds = used.by_process.get(account)
    return None if seconds is None or not used.window_s else seconds / used.window_s


def cpus_text(count: int | None) -> str:
    """Return a number of CPUs as text, such as `1 CPU` or `4 CPUs`."""
    return f"{count} CPU" if count == 1 else f"{count} CPUs"
