"""JDBC drivers: local files, or artefacts from Maven."""

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
    """Return True for a Maven name `group:artefact:version`, unlike a path."""
    return _MAVEN.fullmatch(named) is not None


def find_driver(named: str, cache: Path) -> Path:
    """Return the path of a JDBC driver, given its file or its Maven name.

    Raises:
        EngineError: If the text names neither a file nor a Maven artefact, or if the driver cannot
            be downloaded. The error message says how to fix it.
    """
    file = Path(named)
    if file.exists():
        return file
    if is_maven_name(named):
        return obtain_driver(named, cache)
    raise EngineError(
        f"--driver {named}: there is no such file; name the driver's jar, or its Maven "
        "coordinates, such as org.postgresql:postgresql:42.7.4"
    )


def obtain_driver(
    package: str, cache: Path, sha256: Mapping[str, str] | None = None, tell: Tell = tell_nobody
) -> Path:
    """Return the directory of a JDBC driver's classes, downloaded if needed.

    Args:
        package: `group:artefact:version`.
        cache: Directory of downloaded products.
        sha256: Pinned SHA-256 of the driver's file, by name.
        tell: Receives the progress of the download.

    Raises:
        EngineError: If the driver cannot be obtained. The error message says how to fix it.
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
        raise EngineError(
            f"the downloaded package {package} contains no files: try another version."
        )
    return home
