"""Makes disks whose cache is the page cache: one that lies about its flushes, and an honest one.

A library stands in front of the C library's calls of a process (`lying_disk.c`). The process's
writes stay in the page cache until they are flushed. On the disk that lies, a flush returns at once
and writes nothing. A copy of the device then holds what such a disk would hold after a power cut.
The honest disk differs only in its flushes: it shows that the library itself loses nothing.

Dolt calls the kernel without the C library. A filter of system calls (`lying_kernel.c`) answers its
flushes; its honest disk is the device itself.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

from assay.engines.dolt.programs import find_program as find_dolt
from assay.engines.mariadb.programs import find_program as find_mariadb
from assay.engines.mysql.programs import find_program as find_mysql
from assay.engines.postgresql.programs import find_programs as find_postgresql
from tests.products import obtained

SOURCE = Path(__file__).with_suffix(".c")
KERNEL_SOURCE = Path(__file__).with_name("lying_kernel.c")
# The loaders of a product stay away: the program of a lied-to server names its own.
LEFT_OUT = "loaders"


def why_no_lies() -> str | None:
    """Why no such library can be made here; None: it can."""
    return None if shutil.which("cc") else "there is no C compiler"


def lying_disk(folder: Path, *, lies: bool = True) -> dict[str, str]:
    """Make the library in a folder; the environment in which a process has such a disk."""
    library = folder / ("lying-disk.so" if lies else "honest-disk.so")
    # The headers' own checks of calls would define the calls a second time.
    options = ["-O1", "-U_FORTIFY_SOURCE", *(["-DLIES"] if lies else [])]
    command = ["cc", "-shared", "-fPIC", *options, "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, timeout=60)
    return {"LD_PRELOAD": str(library)}


def programs_on_such_a_disk(
    name: str, folder: Path, *, version: str | None = None, lies: bool = True
) -> Path:
    """Make a directory of an engine's programs, for `--bin-dir`, whose server has such a disk.

    The server runs as another user and inherits no environment, so its program is a script that
    sets the environment and starts the product's own program. All else leads to the product.

    Args:
        name: The engine's name: postgresql, mysql, mariadb or dolt.
        folder: Where the directory is made; the server's user has to reach it.
        version: The product's version; the engine's default.
        lies: Whether flushes write nothing.
    """
    home = obtained(name, version=version).home
    assert home is not None
    server, command = _server_of(name, home)
    made = folder / f"{name}-{'lied-to' if lies else 'honest'}"
    shutil.copytree(
        home, made, copy_function=_link, symlinks=True, ignore=shutil.ignore_patterns(LEFT_OUT)
    )
    script = made / server.relative_to(home)
    script.unlink()
    if name == "dolt":
        started = [*_lying_kernel(folder), *command] if lies else command
    else:
        setting = (f"{key}={value}" for key, value in lying_disk(folder, lies=lies).items())
        started = ["env", *setting, *command]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(started)} "$@"\n', "utf-8")
    script.chmod(0o755)
    return made


def _lying_kernel(folder: Path) -> list[str]:
    """Make the program in a folder that starts another one whose flushes write nothing."""
    program = folder / "lying-kernel"
    subprocess.run(["cc", "-O1", "-o", str(program), str(KERNEL_SOURCE)], check=True, timeout=60)
    return [str(program)]


def _server_of(name: str, home: Path) -> tuple[Path, list[str]]:
    """Return the file of an engine's server below a product's directory, and its command."""
    if name == "postgresql":
        postgres = Path(find_postgresql(home).postgres)
        return postgres, [str(postgres)]
    if name == "dolt":
        dolt = find_dolt(home).file
        return dolt, [str(dolt)]
    program = (find_mysql if name == "mysql" else find_mariadb)(home)
    return program.file, list(program.command)


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(source)
