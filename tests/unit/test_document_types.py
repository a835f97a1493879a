"""The schema of a document is made from its types; rendering a document imports none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from assay.report import document as document_module
from assay.report.documents.schema import document_schema, schema_text

KEPT = Path(document_module.__file__).parent / "document.schema.json"
# What has these types says what they are, or their keys are words of other tools.
UNDESCRIBED = {"CpuSeries", "DiskSeries", "MeasuredPart", "MetricKey"}


def test_the_kept_schema_is_the_one_that_the_types_make() -> None:
    assert KEPT.read_text(encoding="utf-8") == schema_text(), "make schemas"


def test_the_text_of_the_schema_is_the_schema() -> None:
    assert json.loads(schema_text()) == document_schema()


def test_every_object_of_the_schema_is_closed_and_says_what_it_is() -> None:
    for name, made in document_schema()["$defs"].items():
        if made.get("type") == "object":
            assert made["additionalProperties"] is False, name
        if name not in UNDESCRIBED:
            assert made["description"], name


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
