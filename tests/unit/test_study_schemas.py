"""The kept JSON Schemas of the documents of a study and of a ceiling are those of their types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.report.documents.study_schema import SCHEMAS, schema_text


def kept(folder: str) -> dict[str, Any]:
    (file,) = (file for file in SCHEMAS if file.parent.name == folder)
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", list(SCHEMAS), ids=lambda file: file.parent.name)
def test_the_kept_schema_is_the_generated_one(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == schema_text(*SCHEMAS[file]), (
        "python -m assay.report.documents.study_schema writes it anew"
    )


@pytest.mark.parametrize("folder", ["study", "ceiling"])
def test_every_object_is_closed_and_has_all_its_keys(folder: str) -> None:
    schema = kept(folder)
    for described in [schema, *schema["$defs"].values()]:
        assert described["additionalProperties"] is False
        assert sorted(described["required"]) == sorted(described["properties"])


def test_a_value_of_another_type_is_refused() -> None:
    spread = kept("study")["$defs"]["SpreadEntry"]
    jsonschema.validate({"middle": 1.0, "low": 1, "high": 2.0, "count": 1}, spread)
    for wrong in ({"middle": "1"}, {"count": 0}, {"unit": "s"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"middle": 1.0, "low": 1, "high": 2.0, "count": 1} | wrong, spread)
