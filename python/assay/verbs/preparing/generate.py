"""`assay generate`: the data of a workload as files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.running.data.data_files import Wanted, write_files
from assay.running.telling import telling
from assay.verbs.shared.watching import Logged
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from assay.running.data.data_files import DataFile
    from assay.running.telling import Teller


def generate(
    workload: str,
    *,
    out: Path | str,
    scale: float | None = None,
    form: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    teller: Teller | None = None,
) -> list[DataFile]:
    """Writes the data of a workload to files: what runs load, the same bytes each time.

    Args:
        workload: Its name or its folder.
        out: Directory to write the files to.
        scale: Of the data; None: the workload's own.
        form: `nt`, `ttl`, `csv` or `parquet`; None: `nt` where it has statements, else `parquet`.
        seed: Of data that can have one; None: that of the data that runs load.
        threads: That make rows; None: all CPUs.
        teller: Hears how far it is.

    Raises:
        UsageError: If there is no such workload or form, or a file is there already.
        RunFailedError: If a file cannot be written.
    """
    threads = threads or os.cpu_count() or 1
    wanted = Wanted(find_workload(workload), scale, form, Path(out), seed, threads)
    return write_files(wanted, telling(teller or Logged()))
