"""The seal of a record: a file with the SHA-256 of all measured files, written last.

Each line has a digest, two spaces and a path relative to the run directory, in the format of
`sha256sum -c`.
"""

from __future__ import annotations

import hashlib
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.record.layout import ENVIRONMENT_FILE, RAW_DIR, RUN_FILE, SEAL_FILE

if TYPE_CHECKING:
    from pathlib import Path

SEAL_LINE = re.compile("(?P<digest>[0-9a-f]{64})  (?P<name>.+)")
# Clocks of file systems tick coarsely: a file written more recently than this may change again with
# the same time.
SETTLED_NS = 1_000_000_000


def sealed_files(run_dir: Path) -> list[Path]:
    """Return the files whose checksums the seal lists."""
    raw = sorted((run_dir / RAW_DIR).rglob("*"))
    files = [run_dir / RUN_FILE, run_dir / ENVIRONMENT_FILE, *raw]
    return [path for path in files if path.is_file()]


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_seal(run_dir: Path) -> None:
    """Write the seal (SHA-256 of all measured files) of a finished run directory."""
    lines = [
        f"{file_sha256(path)}  {path.relative_to(run_dir)}\n" for path in sealed_files(run_dir)
    ]
    partial = run_dir / f"{SEAL_FILE}.partial"
    partial.write_text("".join(lines), encoding="utf-8")
    partial.rename(run_dir / SEAL_FILE)


def broken_seals(run_dir: Path) -> list[str]:
    """Return a sentence for each file that differs from the seal's checksum.

    A seal that is damaged itself has the first sentence.
    """
    lines = (run_dir / SEAL_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    matches = [SEAL_LINE.fullmatch(line) for line in lines]
    sealed = {match["name"]: match["digest"] for match in matches if match is not None}
    present = {str(path.relative_to(run_dir)): path for path in sealed_files(run_dir)}
    broken = (
        [f"{SEAL_FILE} is damaged in line {matches.index(None) + 1}"] if None in matches else []
    )
    broken += [f"{name} is missing" for name in sealed if name not in present]
    broken += [f"{name} was added after the seal" for name in present if name not in sealed]
    broken += [
        f"{name} was changed after the seal"
        for name, digest in sealed.items()
        if name in present and _digest_of(present[name]) != digest
    ]
    return broken


def _digest_of(path: Path) -> str:
    """Return a file's digest, which is cached until the file is written again."""
    about = path.stat()
    if time.time_ns() - about.st_mtime_ns < SETTLED_NS:
        return file_sha256(path)
    return _settled_digest(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=1 << 16)
def _settled_digest(path: Path, _size: int, _written_ns: int) -> str:
    return file_sha256(path)
