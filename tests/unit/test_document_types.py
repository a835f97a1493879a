"""The schema of a document is made from its types; rendering a document imports none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.report.documents.schema import SCHEMAS, schema_of, schema_text

# What has these types says what they are, or their keys are words of other tools.
UNDESCRIBED = {"CpuSeries", "DiskSeries", "MeasuredPart", "MetricKey"}
ALL = pytest.mark.parametrize("file", list(SCHEMAS), ids=lambda file: file.parent.name)


def kept(folder: str) -> dict[str, Any]:
    (file,) = (file for file in SCHEMAS if file.parent.name == folder)
    return json.loads(file.read_text(encoding="utf-8"))


@ALL
def test_the_kept_schema_is_the_one_that_the_types_make(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == schema_text(*SCHEMAS[file]), "make schemas"
    assert json.loads(schema_text(*SCHEMAS[file])) == schema_of(*SCHEMAS[file])


@ALL
def test_every_object_of_a_schema_is_closed(file: Path) -> None:
    schema = kept(file.parent.name)
    for name, described in {"": schema, **schema["$defs"]}.items():
        if described.get("type") == "object":
            assert described["additionalProperties"] is False, name


def test_every_object_of_a_run_says_what_it_is() -> None:
    for name, described in kept("report")["$defs"].items():
        assert name in UNDESCRIBED or described["description"], name


@pytest.mark.parametrize("folder", ["study", "ceiling"])
def test_every_object_has_all_its_keys(folder: str) -> None:
    schema = kept(folder)
    for described in [schema, *schema["$defs"].values()]:
        assert sorted(described["required"]) == sorted(described["properties"])


def test_a_value_of_another_type_is_refused() -> None:
    spread = kept("study")["$defs"]["SpreadEntry"]
    jsonschema.validate({"middle": 1.0, "low": 1, "high": 2.0, "count": 1}, spread)
    for wrong in ({"middle": "1"}, {"count": 0}, {"unit": "s"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"middle": 1.0, "low": 1, "high": 2.0, "count": 1} | wrong, spread)


def test_a_document_is_made_and_rendered_without_its_types() -> None:
    code = """
import sys
import assay.report.document, assay.report.terminal.summary, assay.report.page.run
assert not [name for name in sys.modules if name.startswith("assay.report.documents")]
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
