"""Hostile names of one run are inert in every medium: page, SVG, CSV, terminal and notebook."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from assay.cli.main import run_command
from assay.cli.shared import output
from assay.verbs.runs import runs as listed_runs

# A slash has no place in the name of a file; the closing tags stand in titles, tables and SQL.
OPERATIONS = (
    "=cmd()|'C'!A0",
    "+1",
    "-2",
    "]]>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(2)>',
    "[red]markup",
    "${x} {{7*7}}",
    "W" * 180,
)
ESCAPE = "\x1b]0;owned\x07\x1b[31m\x9b2J"
MARKUP = "</script><script>alert(3)</script>]]>"
TABLE = ESCAPE + "=HYPERLINK('x')</script><b>"
COLUMNS = {"@SUM(A1)": "1", MARKUP: "2", "=1+1" + ESCAPE: "3"}
PNG = b"\x89PNG\r\n\x1a\n"
# Of a page's own export; a side in units of the drawing: some screens, however long a name is.
PNG_SCALE, SIDE_MAX = 2, 3_000
CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
FORMULA = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload with such names, and one run of it with its page."""
    folder = tmp_path_factory.mktemp("hostile")
    own = folder / "own"
    (own / "schema").mkdir(parents=True)
    # Names are quoted above, and are the test.
    made = f"create table {quoted(TABLE)} as select 1 as {quoted('=a')} from range(9);"  # noqa: S608
    (own / "schema" / "tables.sql").write_text(made, "utf-8")
    title = json.dumps(f"{MARKUP} =1+1")
    titles = [f"[operations.{json.dumps(name)}]\ntitle = {title}\n" for name in OPERATIONS]
    (own / "workload.toml").write_text(f"title = {title}\n" + "".join(titles), "utf-8")
    columns = ", ".join(f"'{value}' as {quoted(name)}" for name, value in COLUMNS.items())
    text = f"/* {MARKUP} {ESCAPE} */ select {columns} from {quoted(TABLE)} order by 1"  # noqa: S608
    for name in OPERATIONS:
        (own / f"{name}.sql").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def record(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        asked = ["run", str(place / "own"), "--engine", "duckdb", "--min-time", "50ms", "--page"]
        assert run_command([*asked, "--runs", str(place / "runs"), "--json"]) == 0
    (row,) = listed_runs(place / "runs")
    return Path(row["path"])


@pytest.fixture(scope="module")
def html(record: Path) -> str:
    return (record / "derived" / "report.html").read_text("utf-8")


class Page(HTMLParser):
    """Elements of a page with their attributes, and the links to data in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def tables(self) -> Iterator[str]:
        """Yield the CSV that is embedded in links."""
        for tag, attributes in self.elements:
            address = attributes.get("href") or ""
            if tag == "a" and address.startswith("data:text/csv"):
                yield unquote(address.partition(",")[2])


def formulas(text: str) -> list[str]:
    """Return the cells that a spreadsheet would carry out."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    return [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]


def test_names_make_no_element_and_no_script_in_the_page(html: str) -> None:
    page = Page(html)
    assert all(not name.startswith("on") for _, of in page.elements for name in of)
    assert [of for tag, of in page.elements if tag in ("img", "iframe", "object")] == []
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    assert not [script for script in scripts if script.startswith("alert")]
    assert "<svg onload" not in html


def test_json_in_the_page_is_whole_and_has_the_names(html: str) -> None:
    embedded = re.findall(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL
    )
    assert embedded
    texts = [json.loads(text) for text in embedded]
    assert OPERATIONS[4] in json.dumps(texts)


def test_csv_in_the_page_has_no_formula(html: str) -> None:
    tables = list(Page(html).tables())
    assert any("'" + OPERATIONS[0] in text for text in tables)
    assert [formulas(text) for text in tables if formulas(text)] == []


def test_exported_csv_has_no_formula(record: Path, tmp_path: Path) -> None:
    assert run_command(["export", str(record), "--to", "csv", "--out", str(tmp_path)]) == 0
    files = list(tmp_path.glob("*.csv"))
    assert any("'" + OPERATIONS[0] in file.read_text("utf-8") for file in files)
    assert [file.name for file in files if formulas(file.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "verb",
    [
        ("show", "--all"),
        ("explain", "--all"),
        # The plan and the text of an operation: names of tables and columns, comments.
        ("explain", "--operation", OPERATIONS[3]),
        ("runs",),
        ("whatif",),
    ],
)
def test_a_terminal_is_told_nothing_but_text(
    verb: tuple[str, ...], record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    which = ("--runs", str(record.parent)) if verb == ("runs",) else (str(record),)
    assert run_command([verb[0], *which, *verb[1:]]) == 0
    told = capsys.readouterr()
    for text in (told.out, told.err):
        assert re.findall(CONTROLS, text) == []


def test_a_json_document_has_no_control_character(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["show", str(record), "--json"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)
    assert not [letter for letter in text if letter != "\n" and not letter.isprintable()]


def test_a_notebook_shows_names_as_text(record: Path) -> None:
    import assay

    run = assay.load(record)
    tables = (run.operations, run.time)
    shown = "".join(table._repr_html_() for table in tables)
    assert "&lt;img" in shown
    assert "<img" not in shown
    assert "<script" not in shown


def test_an_exported_drawing_is_well_formed_and_has_no_script(record: Path) -> None:
    import vl_convert

    import assay

    for name in assay.load(record).charts.names:
        chart = assay.load(record).charts[name].to_dict()
        drawing = ET.fromstring(vl_convert.vegalite_to_svg(chart))  # noqa: S314 - made here
        tags = {element.tag.rpartition("}")[2] for element in drawing.iter()}
        assert not tags & {"script", "img", "foreignObject"}
        assert not [key for element in drawing.iter() for key in element.attrib if key[:2] == "on"]


def chunks(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the kind and content of each chunk of a PNG image; its sums have to be right."""
    assert image.startswith(PNG)
    place = len(PNG)
    while place < len(image):
        size, kind = struct.unpack_from(">I4s", image, place)
        content = image[place + 8 : place + 8 + size]
        (sum_told,) = struct.unpack_from(">I", image, place + 8 + size)
        assert sum_told == zlib.crc32(kind + content)
        yield kind.decode("ascii"), content
        place += size + 12
    assert place == len(image), "bytes after the last chunk"


def test_an_exported_image_has_pixels_and_no_text_and_is_of_usual_size(record: Path) -> None:
    import vl_convert

    import assay

    charts = assay.load(record).charts
    assert charts.names
    for name in charts.names:
        image = vl_convert.vegalite_to_png(charts[name].to_dict(), scale=PNG_SCALE)
        kinds, contents = zip(*chunks(image), strict=True)
        assert (kinds[0], kinds[-1]) == ("IHDR", "IEND"), name
        # Texts, profiles and times have chunks of their own, and none is there.
        assert set(kinds) <= {"IHDR", "PLTE", "tRNS", "pHYs", "IDAT", "IEND"}, name
        width, height = struct.unpack_from(">II", contents[0])
        assert 0 < width <= PNG_SCALE * SIDE_MAX, name
        assert 0 < height <= PNG_SCALE * SIDE_MAX, name


def test_an_engine_that_repeats_a_hostile_name_writes_it_as_text(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = f"select {quoted(ESCAPE)} from range(3)"  # noqa: S608 - no such column
    (own / "q.sql").write_text(text, "utf-8")
    asked = ["run", str(own), "--engine", "duckdb", "--runs", str(tmp_path / "runs")]
    assert run_command(asked) == 2
    told = capsys.readouterr()
    assert "\\x1b[31m" in told.err
    assert re.findall(CONTROLS, told.out + told.err) == []


def test_whatever_is_printed_has_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    for say in (output.say, output.complain):
        say(f"a{ESCAPE}\u202e\udc80z")
    output.say_json({"a": ESCAPE})
    told = capsys.readouterr()
    assert re.findall(CONTROLS, told.out + told.err) == []
    assert told.err == "assay: a\\x1b]0;owned\\x07\\x1b[31m\\x9b2J\\u202e\\udc80z\n"
