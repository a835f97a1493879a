"""Makes the library that has a process told that its data is on the disk when it is not.

It stands in front of fsync and fdatasync of the C library, so what is written stays in the page
cache until the kernel writes it. A copy of the device then has what such a disk would have after
a power cut.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def why_no_lies() -> str | None:
    """Why no such library can be made here; None: it can."""
    return None if shutil.which("cc") else "there is no C compiler"


def lying_disk(folder: Path) -> dict[str, str]:
    """Make the library in a folder; the environment in which a process is lied to."""
    library = folder / "lying-disk.so"
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, timeout=60)
    return {"LD_PRELOAD": str(library)}
