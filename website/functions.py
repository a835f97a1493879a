"""The page of the Python API: each verb as a function, and what it returns."""

from __future__ import annotations

import inspect
from typing import Any

from assay import verbs
from assay.report.notebook import LoadedRun, LoadedStudy
from markdown_pieces import code, first_sentence, table

HEAD = """\
# Python

Each command is a function of the package `assay`, with the options as keyword arguments:
`assay run tpch --min-time 5s` is `assay.run("tpch", min_time="5s")`. `assay.load("latest")` opens
a run that exists. [A notebook](../guides/notebook.md) shows the way from a slow query to a change.
"""


def python_page() -> str:
    """Return the page of functions and of the two results."""
    functions = [_function(name, verbs.function_of(name)) for name in verbs.names()]
    results = [_result(LoadedRun), _result(LoadedStudy)]
    return "\n".join([HEAD, "## Results\n", *results, "## Functions\n", *functions])


def _function(name: str, function: Any) -> str:  # noqa: ANN401 - any verb
    doc = inspect.getdoc(function) or ""
    arguments = ", ".join(map(_argument, inspect.signature(function).parameters.values()))
    return f"### assay.{name}\n\n```python\nassay.{name}({arguments})\n```\n\n{_docstring(doc)}\n"


def _argument(parameter: inspect.Parameter) -> str:
    star = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    name = f"{star.get(parameter.kind, '')}{parameter.name}"
    return name if parameter.default is parameter.empty else f"{name}={parameter.default!r}"


def _docstring(doc: str) -> str:
    """Return a docstring as Markdown; its sections keep their lines."""
    text, *sections = doc.split("\n\nArgs:\n")
    fenced = "".join(f"\n\n```\nArgs:\n{section}\n```" for section in sections)
    return text + fenced


def _result(kind: type) -> str:
    rows = [
        (code(name), first_sentence(inspect.getdoc(member)))
        for name, member in vars(kind).items()
        if not name.startswith("_") and (callable(member) or hasattr(member, "__get__"))
    ]
    about = first_sentence(inspect.getdoc(kind))
    return f"### {kind.__name__}\n\n{about}\n\n{table(['name', 'what it is'], rows)}"
