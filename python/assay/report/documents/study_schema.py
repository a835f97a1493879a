"""Generates the JSON Schemas of a study's document and of a ceiling's from their types.

`python -m assay.report.documents.study_schema` writes the two files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from assay.report.documents.ceiling import CeilingDocument
from assay.report.documents.study import StudyDocument

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

REPORT = Path(__file__).parents[1]
# By the file of the schema: the document's type and the schema's title.
SCHEMAS: dict[Path, tuple[type, str]] = {
    REPORT / "study" / "document.schema.json": (StudyDocument, "A study's article"),
    REPORT / "ceiling" / "document.schema.json": (CeilingDocument, "What a host can do"),
}


class _Closed(GenerateJsonSchema):
    """Schemas without titles, whose objects have no other keys than those of their type."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002 - pydantic's
        return False

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        described = super().typed_dict_schema(schema)
        described.pop("title", None)
        if "description" in described:
            described["description"] = " ".join(described["description"].split())
        return described | {"additionalProperties": False}


def schema_of(document: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a TypedDict, in which the types it is made of are `$defs`."""
    generated = TypeAdapter(document).json_schema(schema_generator=_Closed)
    head = {"$schema": _Closed.schema_dialect, "title": title}
    return head | generated


def schema_text(document: type, title: str) -> str:
    """Return the JSON Schema as the text of its file."""
    return f"{json.dumps(schema_of(document, title), indent=1, ensure_ascii=False)}\n"


if __name__ == "__main__":
    for file, (document, title) in SCHEMAS.items():
        file.write_text(schema_text(document, title), encoding="utf-8")
