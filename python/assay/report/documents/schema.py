"""Generates the JSON Schemas of documents from their types.

`python -m assay.report.documents.schema`, or `make schemas`, writes the schema files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter, with_config
from pydantic.json_schema import GenerateJsonSchema

from assay.report.documents.ceiling import CeilingDocument
from assay.report.documents.run import RunDocument
from assay.report.documents.study import StudyDocument

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

REPORT = Path(__file__).parents[1]
FILE = "document.schema.json"
# Type and title of the document, by the schema's file.
SCHEMAS: dict[Path, tuple[Any, str]] = {
    REPORT / FILE: (RunDocument, "One run of Assay"),
    REPORT / "study" / FILE: (StudyDocument, "A study's article"),
    REPORT / "ceiling" / FILE: (CeilingDocument, "What a host can do"),
}
LINE_MAX = 120
# This option makes docstrings of keys their descriptions, also for all nested types.
DESCRIBED = ConfigDict(use_attribute_docstrings=True)


class DocumentSchema(GenerateJsonSchema):
    """Generates JSON Schemas whose objects have no title and allow only declared keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own
        """Return False, because keys need no title."""
        del schema
        return False

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Return the JSON Schema of an object that allows only declared keys."""
        made = super().typed_dict_schema(schema)
        made.pop("title", None)
        return made | {"additionalProperties": False}


def schema_of(document: Any, title: str) -> dict[str, Any]:  # noqa: ANN401 - a TypedDict
    """Return the JSON Schema of a document, with the types of its sections in `$defs`.

    Args:
        document: The TypedDict of the whole document.
        title: Title of the schema.
    """
    types = TypeAdapter(with_config(DESCRIBED)(document))
    schema: dict[str, Any] = _on_one_line(types.json_schema(schema_generator=DocumentSchema))
    return {"$schema": DocumentSchema.schema_dialect, "title": title} | schema


def _on_one_line(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a JSON Schema whose descriptions have no line breaks."""
    match schema:
        case dict():
            return {
                key: " ".join(value.split())
                if key == "description" and isinstance(value, str)
                else _on_one_line(value)
                for key, value in schema.items()
            }
        case list():
            return [_on_one_line(value) for value in schema]
        case _:
            return schema


def schema_text(document: Any, title: str) -> str:  # noqa: ANN401 - a TypedDict
    """Return the text of a document's JSON Schema file."""
    return f"{_json_text(schema_of(document, title), 0)}\n"


def _json_text(value: object, depth: int) -> str:
    """Return JSON in which each value that fits on one line is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth < LINE_MAX or not isinstance(value, dict | list) or not value:
        return line
    if isinstance(value, list):
        parts = [_json_text(item, depth + 1) for item in value]
    else:
        parts = [f"{json.dumps(key)}: {_json_text(item, depth + 1)}" for key, item in value.items()]
    opened, closed = "[]" if isinstance(value, list) else "{}"
    lines = ",\n".join(f"{' ' * (depth + 1)}{part}" for part in parts)
    return f"{opened}\n{lines}\n{' ' * depth}{closed}"


if __name__ == "__main__":
    for file, (document, title) in SCHEMAS.items():
        file.write_text(schema_text(document, title), encoding="utf-8")
