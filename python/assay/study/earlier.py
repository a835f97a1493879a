"""Finds earlier studies that a command continues: those with equal runs and purpose."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError
from assay.record.studies import STUDY_FILE, read_study_file
from assay.record.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from assay.study.variants import Study


def same(studies: Path, study: Study, about: Mapping[str, Any]) -> Iterator[Path]:
    """Return the directories of studies with equal runs and purpose, newest first.

    The number of repetitions and the figures may differ. Studies with an unreadable file are
    skipped.
    """
    asked = _asked(study, about)
    for directory in sorted(studies.glob("*"), reverse=True):
        try:
            document = read_study_file(directory / STUDY_FILE)
        except RecordUnreadableError:
            continue
        if asked == _asked_parts(document):
            yield directory


def growing(studies: Path, study: Study, about: Mapping[str, Any]) -> Path | None:
    """Return the newest study with the same purpose and at least the given sections."""
    asked = _asked(study, about)
    for directory in sorted(studies.glob("*"), reverse=True):
        try:
            document = _asked_parts(read_study_file(directory / STUDY_FILE))
        except RecordUnreadableError:
            continue
        parts = {name: document["parts"].get(name) for name in asked["parts"]}
        if asked == document | {"parts": parts}:
            return directory
    return None


def asked_digest(study: Study, about: Mapping[str, Any]) -> str:
    """Return a digest of a study's runs and purpose, which equal studies share."""
    asked = json.dumps(_asked(study, about), sort_keys=True, default=str)
    return sha256(asked.encode()).hexdigest()[:16]


def _asked(study: Study, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs and the purpose of a study as its file would contain them."""
    return _asked_parts(tomllib.loads(toml_text({**study.facts(), "about": dict(about) or None})))


def _asked_parts(document: Mapping[str, Any]) -> dict[str, Any]:
    parts = {
        part["name"]: {variant["name"]: variant["request"] for variant in part["variants"]}
        for part in document.get("parts", ())
    }
    return {key: document.get(key) for key in ("schema", "seed", "about")} | {"parts": parts}
