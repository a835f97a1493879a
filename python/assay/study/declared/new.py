"""Writes a commented example of a study, and the JSON schema for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.model.errors import UsageError, error_words
from assay.model.whole_file import filled_directory
from assay.record.outside import refuse_inside_record
from assay.record.studies import STUDY_FILE
from assay.study.declared.facts import StudyFacts

EXAMPLE = Path(__file__).parent / "template" / STUDY_FILE
SCHEMA_FILE = "study.schema.json"


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a study file."""
    schema = StudyFacts.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A study of Assay: study.toml",
    }


def new_study(folder: Path) -> list[Path]:
    """Write the example into a new folder; return the written files in order.

    Raises:
        UsageError: If the folder is not empty, lies inside a record or cannot be written.
    """
    refuse_inside_record(folder, "FOLDER")
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} exists already and is not overwritten: name another folder")
    files = {
        STUDY_FILE: EXAMPLE.read_text(encoding="utf-8"),
        SCHEMA_FILE: json.dumps(study_schema(), indent=1, ensure_ascii=False) + "\n",
    }
    try:
        with filled_directory(folder):
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error_words(error)}") from error
    return [folder / name for name in files]
