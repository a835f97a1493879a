"""Where run records are kept, for whoever writes or reads them."""

from __future__ import annotations

import os
from pathlib import Path


def runs_dir(flag: str | Path | None = None) -> Path:
    """Directory of the run records: the `--runs` flag, else `$ASSAY_RUNS`, else `./runs`."""
    return Path(flag or os.environ.get("ASSAY_RUNS") or "runs")
