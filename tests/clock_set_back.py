"""Makes a wall clock that can be set back, for a process and its children only.

A library stands in front of the C library's calls that read the wall clock (`clock_set_back.c`).
The clock goes back by an hour when a file appears; the host's own clock does not change.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
SET_BACK_S = 3600.0


def why_no_clock() -> str | None:
    """Why no such library can be made here; None: it can."""
    return None if shutil.which("cc") else "there is no C compiler"


def clock_set_back(folder: Path, when: Path) -> dict[str, str]:
    """Make the library in a folder; the environment of a process whose clock goes back.

    Args:
        folder: Where the library is made.
        when: The file whose appearance sets the clock back.
    """
    library = folder / "clock-set-back.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, timeout=60)
    return {"LD_PRELOAD": str(library), "SET_BACK_WHEN": str(when)}
