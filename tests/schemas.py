"""Validators of the JSON Schemas that come with the package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

import assay

REPORT = Path(assay.__file__).parent / "report"
RUN_SCHEMA = REPORT / "document.schema.json"
CEILING_SCHEMA = REPORT / "ceiling" / "document.schema.json"
STUDY_SCHEMA = REPORT / "study" / "document.schema.json"


@cache
def validator(schema: Path) -> Draft202012Validator:
    """Return the validator of a schema, after the schema itself was checked.

    To check it takes longer than to validate many documents, so it is done once per process.
    """
    parsed = json.loads(schema.read_text("utf-8"))
    Draft202012Validator.check_schema(parsed)
    return Draft202012Validator(parsed)
