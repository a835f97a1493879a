"""JDBC drivers as they come from Maven repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError, EngineFacts, ProductFacts, Wanted, tell_nobody
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import Tell


def obtain_driver(
    package: str, cache: Path, sha256: Mapping[str, str] | None = None, tell: Tell = tell_nobody
) -> Path:
    """A driver's classes, in a directory that `start_bridge` takes; brought if it is not there.

    Args:
        package: `group:artefact:version`.
        cache: Where obtained products are kept.
        sha256: Of its file, by name; pinned.
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
