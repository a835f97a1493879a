"""JDBC drivers: files that are there, or what Maven brings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError, Wanted, tell_nobody
from assay.engines.facts import EngineFacts, ProductFacts
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Tell

_MAVEN = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")


def is_maven_name(named: str) -> bool:
    """Return True for `group:artefact:version`, which no path with a directory looks like."""
    return _MAVEN.fullmatch(named) is not None


def find_driver(named: str, cache: Path) -> Path:
    """A driver by its file, or by its name of Maven: `group:artefact:version`.

    Raises:
        EngineError: If it is neither, or cannot be brought; names the mend.
    """
    file = Path(named)
    if file.exists():
        return file
    if is_maven_name(named):
        return obtain_driver(named, cache)
    raise EngineError(
        f"--driver {named}: there is no such file; name the driver's jar, or what Maven calls it,"
        " such as org.postgresql:postgresql:42.7.4"
    )


def obtain_driver(
    package: str, cache: Path, sha256: Mapping[str, str] | None = None, tell: Tell = tell_nobody
) -> Path:
    """A driver's classes, in a directory that `start_bridge` takes; brought if it is not there.

    Args:
        package: `group:artefact:version`.
        cache: Where obtained products are kept.
        sha256: SHA-256 of its file, by name; pinned.
        tell: Hears how far bringing it is.

    Raises:
        EngineError: With the mend.
    """
    _, artefact, version = package.split(":")
    product = ProductFacts(
        version=version, provider="maven", package=package, sha256=dict(sha256 or {})
    )
    facts = EngineFacts(
        name=artefact,
        title=f"The JDBC driver {artefact}",
        about="Reaches a database.",
        kind="none",
        session="none",
        obtained_from="Maven",
        products=(product,),
    )
    home = obtain(facts, Wanted(cache / "jdbc"), tell).home
    if home is None:
        raise EngineError(f"{package} came without files: try another version.")
    return home
