"""How much memory the reference takes, in sizes of the tables that it holds.

The 22 TPC-H queries with default parameters, in a process of their own with nothing kept from
before. `assay.running.reference.loading.MEMORY_FACTOR` has to be above what this prints.
"""

from __future__ import annotations

import argparse
import os
import resource

from assay.running.host.memory import KIB
from assay.running.reference.engine import ReferenceEngine
from assay.running.reference.loading import MEMORY_FACTOR, loaded
from assay.workloads.discovery import find_workload

MIB = 1 << 20


def tell_nobody(*_: object) -> None:
    """Nobody waits for how far the loading is."""


def main() -> None:
    """Prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    workload = find_workload("tpch")
    texts = [workload.statement(name, (), scale).text for name in workload.facts.order]
    job = {
        "generator": workload.facts.generator,
        "tables": workload.facts.tables,
        "scale": scale,
        "threads": os.cpu_count() or 1,
        "sets": 0,
        "refresh": None,
    }
    data, memory_bytes = loaded(job, texts, tell_nobody)
    tables_bytes = data.nbytes
    engine = ReferenceEngine(data, memory_bytes)
    for text in texts:
        engine.answer(text, 0)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    print(
        f"tables {tables_bytes / MIB:,.0f} MiB, process {peak_bytes / MIB:,.0f} MiB at its most:"
        f" {peak_bytes / tables_bytes:.1f} times; asked for: {MEMORY_FACTOR:g}"
    )


if __name__ == "__main__":
    main()
