"""Prints the version for `assay --version`."""

from __future__ import annotations

from assay.cli.shared.output import say, say_json


def say_version(*, as_json: bool) -> None:
    """Print Assay's version; with JSON also the versions of the engines' adapters."""
    from assay.version import VERSION

    if not as_json:
        say(f"assay {VERSION}")
        return
    from assay.engines.discovery import find_engines

    adapters = {name: folder.facts.version_pinned for name, folder in find_engines().items()}
    say_json({"assay": VERSION, "engines": adapters})
