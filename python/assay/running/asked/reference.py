"""Generates the page that lists all options of a run from their declarations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from assay.running.asked.declaring import Group, Option, declared, long_name
from assay.running.asked.options import RunOptions
from assay.running.asked.password_option import PasswordOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

HEAD = """\
# Options of a run

`assay run` takes these options, and so do `assay sweep`, `compare` and `tune` for all their runs.
A [study's file](../guides/adding-a-study.md) has them as keys, with `_` for `-`. A default of your
own stands in `assay.toml`, in the table of the verb, or in the environment: `ASSAY_RUN_SEED=7`. A
key or a variable that names no option of the verb is refused.
Runs by example: [running](../guides/running.md). `make options` writes this page.
"""


def options_page() -> str:
    """Return the options reference page in Markdown, with a table for each group."""
    return "\n".join([HEAD, *_tables()])


def _tables() -> Iterator[str]:
    for group in Group:
        rows = sorted(
            _row(name, field, option)
            for model in (RunOptions, PasswordOptions)
            for name, field in model.model_fields.items()
            if (option := declared(field)) and option.group == group
        )
        if rows:
            yield f"## {group}\n\n| Option | Default | What it says | Needs |\n|---|---|---|---|"
            yield "\n".join(rows) + "\n"


def _row(name: str, field: FieldInfo, option: Option) -> str:
    default = field.get_default(call_default_factory=True)
    value = f" {option.shown}" if option.shown and not isinstance(default, bool) else ""
    flag = f"`{long_name(field.alias or name)}{value}`"
    said = "" if default in (None, (), {}, False) else f"`{_text(default)}`"
    cells = (flag, said, option.help, option.needs or "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _text(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


if __name__ == "__main__":
    sys.stdout.write(options_page())
