"""The JSON Schema of the document of a run, made from its types.

`python -m assay.report.documents.schema` prints it; `make schemas` keeps it in
`report/document.schema.json`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter, with_config
from pydantic.json_schema import GenerateJsonSchema

from assay.report.documents.run import RunDocument

if TYPE_CHECKING:
    pass

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "One run of Assay"
LINE_MAX = 120
# It holds of all types below the document, too: no other keys, and docstrings as descriptions.
CLOSED = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class DocumentSchema(GenerateJsonSchema):
    """Makes a schema without titles, for the keys say as much."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Return False: a key needs no title."""
        del schema
        return False

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own
        """Return the schema of an object, with the name of its type left out."""
        made = super().typed_dict_schema(schema)
        made.pop("title", None)
        return made


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document of a run."""
    types: TypeAdapter[RunDocument] = TypeAdapter(with_config(CLOSED)(RunDocument))
    schema: dict[str, Any] = _on_one_line(types.json_schema(schema_generator=DocumentSchema))
    return {"$schema": DIALECT, "title": TITLE} | schema


def _on_one_line(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema whose descriptions have no line breaks."""
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


def schema_text() -> str:
    """Return the schema as its file has it."""
    return f"{_json_text(document_schema(), 0)}\n"


def _json_text(value: object, depth: int) -> str:
    """Return JSON in which whatever has room on one line is on one line."""
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
    sys.stdout.write(schema_text())
