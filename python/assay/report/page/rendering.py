"""Renders templates to HTML pages in one file that run only their own scripts.

All texts of a record are untrusted. The template escapes them, and JSON in the page cannot end its
element. A content security policy allows only the page's own scripts, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.units import (
    NS_PER_S,
    bytes_text,
    count_text,
    near_whole_text,
    percent_text,
    rate_text,
    seconds_text,
)
from assay.record.places import cache_dir
from assay.report.page import vega

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import jinja2
    from markupsafe import Markup

TEMPLATES = Path(__file__).parents[1] / "templates"
# Vega compiles its expressions with `Function`, which needs `unsafe-eval`. The page loads nothing.
POLICY = (
    "default-src 'none'; script-src {digests} 'unsafe-eval'; style-src 'unsafe-inline';"
    " img-src data: blob:; form-action 'none'; base-uri 'none'"
)
NOT_IN_JSON = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def rendered(
    name: str,
    scripts: Sequence[str],
    styles: Sequence[str],
    **values: object,
) -> str:
    """Return the page of a template with scripts, style sheets and values.

    `scripts` are texts, `styles` are names of template files.
    """
    return (
        _environment()
        .get_template(name)
        .render(
            policy=POLICY.format(digests=" ".join(script_digest(script) for script in scripts)),
            css=trusted("".join(template(style) for style in styles)),
            scripts=[trusted(script) for script in scripts],
            **values,
        )
    )


def rendered_article(
    name: str,
    specs: Mapping[str, object],
    **values: object,
) -> str:
    """Return the page of an article's template with charts, from their specifications by name."""
    return rendered(
        name,
        [vega.program(), template("report.js")],
        ["report.css", "study.css"],
        charts_json=trusted(json_in_html(specs)),
        **values,
    )


def template(name: str) -> str:
    """Return the text of a template file."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def json_in_html(value: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char, escaped in NOT_IN_JSON.items():
        text = text.replace(char, escaped)
    return text


def script_digest(script: str) -> str:
    """Return the digest of a script for a page's content security policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def trusted(text: str) -> Markup:
    """Mark an HTML text as safe, so that the template does not escape it."""
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704


def _environment() -> jinja2.Environment:
    """Return the environment of templates, which escapes everything that is not trusted."""
    import jinja2

    from assay.report.page.compiled import compiled_in

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=compiled_in(cache_dir() / "templates"),
    )
    made.filters.update(
        seconds=seconds_text,
        bytes=bytes_text,
        percent=percent_text,
        near_whole=near_whole_text,
        count=count_text,
        rate=rate_text,
        nanoseconds=lambda ns: seconds_text(None if ns is None else ns / NS_PER_S),
    )
    return made
