"""What the driver itself costs an operation: the null session, without and with the task meter.

Prints CPU nanoseconds an operation (user and system of this whole process, recorder included), every
operation recorded with three times, histogram and event.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from assay import _core

ROUNDS = 5
CASES = (
    ("1 client", 1, 2_000_000, False),
    ("8 clients", 8, 2_000_000, False),
    ("1 client, metered", 1, 20_000, True),
)


def cpu_s() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def plan(clients: int, operations: int) -> str:
    """A closed loop over one operation."""
    phase = {
        "name": "measured",
        "arrival": {"shape": "closed", "clients": clients},
        "operations": [0],
        "operations_max": operations,
    }
    return json.dumps({"operations": ["nothing"], "phases": [phase], "seed": 1})


def one_round(clients: int, operations: int, *, metered: bool) -> tuple[float, float, int]:
    """CPU and wall nanoseconds an operation, and how often a session waited for the recorder."""
    sessions = [_core.NullSession()] * clients
    with tempfile.TemporaryDirectory() as place:
        cpu_before_s, before_s = cpu_s(), time.monotonic()
        report = _core.drive(
            plan(clients, operations),
            sessions,
            Path(place),
            _core.CancelFlag(),
            lambda *_: None,
            [os.getpid()] if metered else None,
        )
        wall_s, used_s = time.monotonic() - before_s, cpu_s() - cpu_before_s
    waits = json.loads(report)["recorder_waits"]
    return used_s / operations * 1e9, wall_s / operations * 1e9, waits


def main() -> None:
    """Prints a line a case: median of the rounds, fastest and slowest."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--operations", type=int, help="of each case at most")
    most = options.parse_args().operations
    print(f"{'case':<22}{'CPU ns/op':>12}{'min':>10}{'max':>10}{'wall ns/op':>12}{'waits':>8}")
    for name, clients, operations, metered in CASES:
        count = min(operations, most or operations)
        rounds = [one_round(clients, count, metered=metered) for _ in range(ROUNDS)]
        cpu = [used for used, _, _ in rounds]
        wall = statistics.median(wall for _, wall, _ in rounds)
        waits = sum(waits for _, _, waits in rounds)
        print(
            f"{name:<22}{statistics.median(cpu):>12.0f}{min(cpu):>10.0f}{max(cpu):>10.0f}"
            f"{wall:>12.0f}{waits:>8}"
        )


if __name__ == "__main__":
    main()
