"""Provides the JavaScript of the chart library Vega, which every report embeds.

Bundling this script takes longer than the rest of a report. It is the same for all reports, so it
is cached.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING

from assay.record.places import cache_dir

if TYPE_CHECKING:
    from pathlib import Path

# The function that the bundle exports to the page.
EXPORTED = "window.vegaEmbed=vegaEmbed;"
MAKER = "vl-convert-python"


def program() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, cached if the cache is usable."""
    kept = cache_dir() / "report" / f"vega-{version(MAKER)}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        made = _bundle()
        _keep(kept, made)
        return made


def _bundle() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(EXPORTED)
    return bundle


def _keep(kept: Path, text: str) -> None:
    partial = kept.with_name(f"{kept.name}.{os.getpid()}.partial")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(kept)
    except OSError:
        try:
            partial.unlink(missing_ok=True)
        except OSError:
            return
