"""`assay generate`: writes the data of a workload to files."""

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
    """Writes the data that runs of a workload load to files.

    Each call writes the same bytes.

    Args:
        workload: Name or folder of the workload.
        out: Directory to write the files to.
        scale: Scale of the data; None means the workload's own.
        form: `nt`, `ttl`, `csv` or `parquet`; None means `nt` if the workload has RDF statements,
            else `parquet`.
        seed: Seed of the data, if the generator takes one; None means the seed of the data that
            runs load.
        threads: Number of threads that generate rows; None means all CPUs.
        teller: Receives the progress.

    Raises:
        UsageError: If the workload or form is unknown, or a file exists already.
        RunFailedError: If a file cannot be written.
    """
    threads = threads or os.cpu_count() or 1
    wanted = Wanted(find_workload(workload), scale, form, Path(out), seed, threads)
    return write_files(wanted, telling(teller or Logged()))
