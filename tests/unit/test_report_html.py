"""The page is one file, says why something is missing, and nothing a record says can run in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from assay.record.reader import Run
from assay.record.writer import write_json
from assay.report.document import document
from assay.report.page.rendering import json_in_html, script_digest
from assay.report.page.run import page
from tests.records import truncate_run, write_run
from tests.sampled import as_sampled

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
SIZE_MAX_BYTES = 1_500_000


class Elements(HTMLParser):
    """Collects scripts, attributes and every element's name, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def page_of(directory: Path) -> str:
    run = Run(directory)
    return page(run, document(run, directory))


def charts_of(text: str) -> dict[str, Any]:
    charts: dict[str, Any] = json.loads(Elements(text).scripts[0])
    return charts


def test_a_complete_run_draws_four_charts_in_one_file(tmp_path: Path) -> None:
    text = page_of(write_run(tmp_path))
    assert set(charts_of(text)) == {"operations", "timeline", "passes", "storage"}
    assert len(text.encode()) < SIZE_MAX_BYTES


def test_nothing_is_fetched(tmp_path: Path) -> None:
    seen = Elements(page_of(write_run(tmp_path)))
    sources = [value for name, value in seen.attributes if name in {"src", "href", "action"}]
    assert all(value.startswith(("data:", "#")) for value in sources)
    assert not {"iframe", "object", "embed", "base"} & set(seen.names)


def hostile_run(runs: Path) -> Path:
    """A record in which everything foreign tries to break out of where it is shown."""
    directory = write_run(runs, failing="q02", message=HOSTILE)
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["engine"]["title"] = HOSTILE
    facts["workload"]["operation_titles"]["q01"] = HOSTILE
    facts["statements"]["q01"]["text"] = HOSTILE
    facts["request"]["settings"] = {HOSTILE: HOSTILE}
    write_json(directory / "run.json", facts)
    environment = json.loads((directory / "environment.json").read_text(encoding="utf-8"))
    environment["engine"]["settings"] = {HOSTILE: HOSTILE}
    environment["host"]["host"] = HOSTILE
    write_json(directory / "environment.json", environment)
    return directory


def test_what_a_record_says_stays_text(tmp_path: Path) -> None:
    plain = Elements(page_of(write_run(tmp_path / "plain", failing="q02")))
    hostile = Elements(page_of(hostile_run(tmp_path / "hostile")))
    assert hostile.names.count("script") == plain.names.count("script") == 4
    assert "img" not in hostile.names
    assert not [name for name, _ in hostile.attributes if name.startswith("on")]


def test_hostile_text_survives_inside_the_embedded_json(tmp_path: Path) -> None:
    text = page_of(hostile_run(tmp_path))
    assert HOSTILE in json.dumps(charts_of(text), ensure_ascii=False)
    assert HOSTILE not in text


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "a\u2028b", "&lt;"])
def test_embedded_json_reads_back(text: str) -> None:
    embedded = json_in_html({"words": text})
    assert json.loads(embedded) == {"words": text}
    assert not set("<>&\u2028\u2029") & set(embedded)


def test_the_policy_names_the_scripts_that_run(tmp_path: Path) -> None:
    text = page_of(write_run(tmp_path))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for script in (source for source in Elements(text).scripts if not source.startswith("{")):
        assert script_digest(script).replace("'", "&#39;") in policy.group(1)
    assert "'unsafe-inline'" not in policy.group(1).split("style-src")[0]


def test_a_run_without_probes_says_so(tmp_path: Path) -> None:
    text = page_of(write_run(tmp_path, probes=False))
    assert "No samples of CPU, memory, disks, pressure: no probe ran." in text
    assert "No probe ran, so the use of resources was not measured." in text


def test_a_run_without_events_has_reasons_instead_of_charts(tmp_path: Path) -> None:
    directory = truncate_run(write_run(tmp_path))
    (directory / "raw" / "events.arrows").unlink()
    (directory / "environment.json").unlink()
    text = page_of(directory)
    assert charts_of(text) == {}
    assert "No operation was measured" in text
    assert "The run ended before its environment was recorded." in text


def test_it_says_how_to_get_what_was_not_measured(tmp_path: Path) -> None:
    text = page_of(write_run(tmp_path))
    assert "CPU samples: not measured, this run took no CPU samples: `assay run tpch" in text
    assert "--profile` takes them" in text


def json_scripts(text: str) -> list[dict[str, Any]]:
    return [json.loads(script) for script in Elements(text).scripts if script.startswith("{")]


def test_a_profile_is_one_more_chart_and_a_tree(tmp_path: Path) -> None:
    directory = as_sampled(write_run(tmp_path))
    text = page_of(directory)
    tree, charts, _ = json_scripts(text)
    assert "work" in charts
    profile = document(Run(directory), directory)["profile"]
    artefacts = sum(row["samples"] for row in profile["sampling"]["artefacts"])
    drawn = sum(sum(samples) for _, samples in tree["counts"].values())
    assert drawn == profile["samples"] + artefacts
    assert len(text.encode()) < SIZE_MAX_BYTES


def test_the_name_of_a_function_does_not_run(tmp_path: Path) -> None:
    evil = "</script><script>alert</script><img src=x onerror=alert>"
    text = page_of(as_sampled(write_run(tmp_path), filter_name=evil))
    tree, *_ = json_scripts(text)
    assert any("onerror" in label for label in tree["labels"])
    elements = Elements(text)
    assert "img" not in elements.names
    assert "alert" not in elements.scripts
    policy = next(value for _, value in elements.attributes if value.startswith("default-src"))
    for script in (source for source in elements.scripts if not source.startswith("{")):
        assert script_digest(script) in policy
