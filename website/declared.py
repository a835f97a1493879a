"""Pages of keys: of the document that `--json` prints, and of files in TOML."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

import assay.report
from assay.engines import facts as engine_facts
from assay.study.declared.facts import StudyFacts
from assay.workloads import facts as workload_facts
from assay.workloads import operation_facts
from markdown_pieces import code, first_sentence, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from pydantic.fields import FieldInfo

SCHEMA = Path(assay.report.__file__).with_name("document.schema.json")
ATTRIBUTE = re.compile(r"^ {4}(?: {4})?(\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


def document_page() -> str:
    """Return the page of the JSON document: an object with its keys under each heading."""
    facts = json.loads(SCHEMA.read_text("utf-8"))
    head = (
        "# The document\n\n`--json` prints one document on standard output. Null means *not"
        " measured*; it never means zero. The JSON Schema is"
        " [document.schema.json](../../python/assay/report/document.schema.json).\n"
    )
    objects = {"document": facts, **facts["$defs"]}
    return "\n".join([head, *(_object(name, facts) for name, facts in objects.items())])


def _object(name: str, facts: dict[str, Any]) -> str:
    rows = [
        (code(key), _type(of), str(of.get("description", "")))
        for key, of in facts.get("properties", {}).items()
    ]
    keys = table(["key", "type", "meaning"], rows) if rows else ""
    return f"## {name}\n\n{facts.get('description', '')}\n\n{keys}"


def _type(facts: dict[str, Any]) -> str:
    """Return the type of a key in words, with links to objects."""
    if "$ref" in facts:
        name = facts["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in facts:
        return " or ".join(dict.fromkeys(_type(one) for one in facts["anyOf"]))
    if "enum" in facts:
        return ", ".join(code(value) for value in facts["enum"])
    if facts.get("type") == "array":
        return f"list of {_type(facts.get('items', {}))}"
    if facts.get("type") == "object" and isinstance(facts.get("additionalProperties"), dict):
        return f"object of {_type(facts['additionalProperties'])}"
    return str(facts.get("type", facts.get("const", "any")))


def study_keys_page() -> str:
    """Return the page of keys of a study's file, from its JSON Schema."""
    facts = StudyFacts.model_json_schema(by_alias=True)
    head = (
        "# Keys of a study\n\nA study is a file `study.toml`; see"
        " [a study of your own](../guides/adding-a-study.md). Keys that are"
        " [options of a run](options.md) can stand at its head, in a part and in a level.\n"
    )
    names = {"study": facts, **facts["$defs"]}
    return "\n".join([head, *(_object(name, of) for name, of in names.items())])


def workload_keys_page() -> str:
    """Return the page of keys of `workload.toml`."""
    return _models_page(
        "Keys of a workload",
        "`workload.toml`; see [a workload of your own](../guides/adding-a-workload.md).",
        operation_facts,
        workload_facts,
    )


def engine_keys_page() -> str:
    """Return the page of keys of `engine.toml`."""
    return _models_page(
        "Keys of an engine",
        "`engine.toml`; see [an engine of your own](../guides/own-engine.md).",
        engine_facts,
    )


def _models_page(title: str, about: str, *modules: ModuleType) -> str:
    models = [model for module in modules for model in _models(module)]
    parts = [f"# {title}\n\n{about}\n", *map(_model, reversed(models))]
    return "\n".join(parts)


def _models(module: ModuleType) -> Iterator[type[BaseModel]]:
    for value in vars(module).values():
        is_model = isinstance(value, type) and issubclass(value, BaseModel)
        if is_model and value.__module__ == module.__name__ and value.model_fields:
            yield value


def _model(model: type[BaseModel]) -> str:
    about = dict(ATTRIBUTE.findall(model.__doc__ or ""))
    rows = [
        (
            code(name),
            "needed" if field.is_required() else _default(field),
            about.get(name, ""),
        )
        for name, field in model.model_fields.items()
    ]
    keys = table(["key", "default", "meaning"], rows)
    return f"## {model.__name__}\n\n{first_sentence(model.__doc__)}\n\n{keys}"


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    return "" if value in (None, (), {}, "", []) else code(value)
