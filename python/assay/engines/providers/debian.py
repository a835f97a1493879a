"""Provides Debian packages, unpacked without installing them.

`package` is a name such as `postgresql-15`. The archive's version changes with its updates, so the
obtained version is recorded instead of pinned.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.providers.client import Client
from assay.engines.providers.contract import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.contract import Tell

PATIENCE_S = 120.0
PROGRAM_DIRECTORIES = ("bin", "sbin")
APT_GET = Client(
    name="apt-get",
    # The user of apt's sandbox cannot write to the target directory, which only causes a warning.
    programs=(("apt-get", "-q", "-o", "APT::Sandbox::User=root"),),
    install="Debian's packages need Debian or one of its kin; choose another version",
    not_there=r"Unable to locate package|has no installation candidate|no longer has a Release"
    r"|404\s+Not Found|Can't find a source",
    mend="the list of packages is missing or old: run `apt-get update` as root, then try again",
)
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_NAME = re.compile(r"\s*([a-z0-9][a-z0-9+.-]+)")


class DebianProvider:
    """Provides packages of Debian; implements `Brings` and `Finds`."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download a Debian package, and the libraries it depends on that this host lacks."""
        wanted, seen = [package], {package}
        while wanted:
            APT_GET.run(["download", *wanted], into, tell)
            needed = {name for package in wanted for name in _libraries(into, package)}
            wanted = sorted(name for name in needed - seen if not is_installed(name))
            seen |= needed
        return sorted(into.glob("*.deb"))

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpack all packages into one directory, as in an installed file system."""
        for file in files:
            run_tool(["dpkg-deb", "--extract", str(file), str(home)])
        _check_libraries(home)

    def installed(self, package: str) -> Path | None:
        """Return the directory above the installed package's first directory of programs."""
        if not is_installed(package):
            return None
        paths = [
            Path(line) for line in run_tool(["dpkg-query", "--listfiles", package]).splitlines()
        ]
        for path in paths:
            if path.parent.name in PROGRAM_DIRECTORIES and path.is_file():
                return path.parent.parent
        return None


def _libraries(into: Path, package: str) -> list[str]:
    """Return the library packages that a downloaded package depends on."""
    depends = [
        run_tool(["dpkg-deb", "--field", str(file), "Depends"])
        for file in into.glob(f"{package}_*.deb")
    ]
    names = [match[1] for part in ",".join(depends).split(",") if (match := _NAME.match(part))]
    # The C library must be the host's, because two cannot be mixed.
    return [name for name in names if name.startswith("lib") and name != "libc6"]


def is_installed(package: str) -> bool:
    """Return True if the Debian package is installed on this host."""
    if shutil.which("dpkg-query") is None:
        return False
    asked = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    completed = subprocess.run(
        asked, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    return completed.returncode == 0 and completed.stdout == "installed"


def _check_libraries(home: Path) -> None:
    """Check that all libraries of the unpacked programs are found."""
    programs = [p for where in PROGRAM_DIRECTORIES for p in home.rglob(f"{where}/*") if p.is_file()]
    # Some packages have not moved to /usr yet.
    places = [place for lib in ("usr/lib", "lib") for place in home.glob(f"{lib}/*-linux-gnu*")]
    path = ":".join(map(str, places))
    missing: set[str] = set()
    for program in programs:
        completed = subprocess.run(
            ["/usr/bin/env", f"LD_LIBRARY_PATH={path}", "ldd", str(program)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        missing |= set(_NOT_FOUND.findall(completed.stdout))
    if missing:
        raise ProviderError(
            f"shared libraries are missing: {', '.join(sorted(missing))}. Install them with "
            "apt-get, or choose another version."
        )


def run_tool(command: list[str]) -> str:
    """Run a tool of Debian and return its output.

    Raises `ProviderError` with the remedy if the tool fails.
    """
    try:
        completed = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except FileNotFoundError as error:
        raise ProviderError(
            f"{command[0]} is not installed: Debian packages need Debian or a derivative of it; "
            "choose another version."
        ) from error
    if completed.returncode != 0:
        said = completed.stderr.strip()
        full = "no space left" in said.lower()
        mend = "the disk is full: free space, or set XDG_CACHE_HOME. " if full else ""
        raise ProviderError(f"{mend}{command[0]} failed: {said}")
    return completed.stdout


provider = DebianProvider()
