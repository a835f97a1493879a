"""`assay generate`: the data of workloads as files, and that BSBM's forms say the same."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from assay.cli.main import run_command
from assay.engines.contract import Tell
from assay.running.data import data_files
from assay.workloads.generate import table_stream

PRODUCTS = 60
BSBM = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
INSTANCES = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DC = "http://purl.org/dc/elements/1.1/"
REV = "http://purl.org/stuff/rev#"
RELATIONS = (
    "producttype",
    "producttypeproduct",
    "productfeature",
    "productfeatureproduct",
    "producer",
    "product",
    "vendor",
    "offer",
    "person",
    "review",
)
MANIFEST = f"""
title = "A shop"
about = "Facts of a shop."
generator = "bsbm"
scale_default = {PRODUCTS}
scale_name = "products"
tables = {json.dumps(RELATIONS)}
triples = ["triples"]
turtle = ["turtle"]
order = ["q1"]
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a workload whose data are BSBM's."""
    folder = tmp_path_factory.mktemp("workloads") / "shop"
    (folder / "operations").mkdir(parents=True)
    (folder / "operations" / "q1.sql").write_text("select 1\n", encoding="utf-8")
    (folder / "workload.toml").write_text(MANIFEST, encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def written(shop: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data in every format."""
    out = tmp_path_factory.mktemp("data")
    for form in ("nt", "ttl", "csv", "parquet"):
        assert run_command(["generate", shop, "--format", form, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def triples(written: Path) -> list[Quad]:
    return list(parse(path=written / "triples.nt", format=RdfFormat.N_TRIPLES))


def table(name: str) -> pa.Table:
    return pa.table(table_stream("bsbm", name, PRODUCTS, 1))


class TestFiles:
    def test_every_form_is_written(self, written: Path) -> None:
        names = {f"{name}.{form}" for name in RELATIONS for form in ("csv", "parquet")}
        assert {path.name for path in written.iterdir()} == names | {"triples.nt", "turtle.ttl"}

    def test_the_bytes_are_those_of_the_rows(self, written: Path) -> None:
        lines = table("triples")["triple"].to_pylist()
        assert (written / "triples.nt").read_text(encoding="utf-8") == "".join(lines)

    def test_a_table_can_be_read_back(self, written: Path) -> None:
        for name in RELATIONS:
            assert parquet.read_table(written / f"{name}.parquet") == table(name)
            assert csv.read_csv(written / f"{name}.csv").num_rows == table(name).num_rows

    def test_what_was_written_is_told(
        self, shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        command = ["generate", shop, "--scale", "5", "--threads", "3", "--json"]
        assert run_command([*command, "--out", str(tmp_path / "one")]) == 0
        (files,) = json.loads(capsys.readouterr().out)["files"]
        assert run_command([*command, "--seed", "7", "--out", str(tmp_path / "other")]) == 0
        (other,) = json.loads(capsys.readouterr().out)["files"]
        assert Path(files["path"]).stat().st_size == files["bytes"]
        assert files["rows"] == len(Path(files["path"]).read_bytes().splitlines())
        assert files["checksum"] != other["checksum"]

    def test_another_workload_has_tables(self, tmp_path: Path) -> None:
        out = str(tmp_path)
        assert run_command(["generate", "tpch", "--scale", "0.001", "--out", out]) == 0
        assert parquet.read_table(tmp_path / "region.parquet").num_rows == 5


class TestRefusals:
    def refused(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
        assert run_command(["generate", *map(str, arguments)]) == 1
        return capsys.readouterr().err

    def test_files_that_are_there(
        self, shop: str, written: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = (written / "triples.nt").read_bytes()
        message = self.refused(capsys, shop, "--out", written, "--scale", 1)
        assert "triples.nt exists already: remove it, or name another --out" in message
        assert (written / "triples.nt").read_bytes() == before

    def test_formats_that_it_has_not(
        self, shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        message = self.refused(capsys, shop, "--format", "xml", "--out", tmp_path / "a")
        assert (
            "--format xml: the data of shop can be written in the formats nt, ttl, parquet, csv"
        ) in message
        message = self.refused(capsys, "tpch", "--format", "nt", "--out", tmp_path / "a")
        assert "the data of tpch can be written in the formats parquet, csv" in message
        message = self.refused(capsys, "tpcb", "--out", tmp_path / "a")
        assert "tpcb has no data to write" in message
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("scale", ["0", "1.5", "100000000"])
    def test_scales_and_seeds(
        self, shop: str, scale: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        message = self.refused(capsys, shop, "--scale", scale, "--out", tmp_path / "a")
        assert "BSBM is scaled by whole products, from 1 to 10000000" in message
        message = self.refused(capsys, "tpch", "--seed", 1, "--out", tmp_path / "a")
        assert "they have no seed" in message
        assert not (tmp_path / "a").exists()

    def test_places_that_cannot_be_used(
        self, shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        message = self.refused(capsys, shop, "--out", tmp_path / "file" / "data")
        assert f"--out {tmp_path}/file/data: Not a directory" in message


class TestFailures:
    def test_too_little_room_is_seen_before(
        self,
        shop: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        class Usage:
            free = 10_000

        monkeypatch.setattr(data_files.shutil, "disk_usage", lambda _: Usage)
        assert run_command(["generate", shop, "--out", str(tmp_path / "new" / "data")]) == 1
        assert "MiB or more, and 9.77 KiB are free: name another" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    def test_a_scale_beyond_the_disk_is_refused_in_every_format(
        self, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["generate", "tpch", "--scale", "100000", "--format", form]
        assert run_command([*asked, "--out", str(tmp_path / "data")]) == 1
        assert "TiB or more, and" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_leaves_nothing(
        self,
        shop: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        class Full(data_files._Plain):
            def write(self, batch: pa.RecordBatch) -> None:
                super().write(batch)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setitem(data_files.SINKS, "nt", Full)
        assert run_command(["generate", shop, "--out", str(tmp_path / "new" / "data")]) == 2
        assert (
            f"the disk of {tmp_path / 'new' / 'data'} is full: free some space"
            in capsys.readouterr().err
        )
        assert list(tmp_path.iterdir()) == []

    def test_a_stop_leaves_nothing_of_what_was_whole(
        self,
        shop: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("assay.verbs.preparing.generate.telling", stopping_at("product"))
        command = ["generate", shop, "--format", "csv", "--out", str(tmp_path / "new" / "data")]
        assert run_command(command) == 2
        assert "stopped by SIGTERM: nothing is left" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def stopping_at(table: str) -> Any:
    def telling(_: object) -> Tell:
        def tell(phase: str, _done: float, _expected: float | None, _unit: str) -> None:
            if phase == table:
                raise KeyboardInterrupt("SIGTERM")

        return tell

    return telling


class TestForms:
    """N-Triples, Turtle and tables say the same, as parsers of others read them."""

    def test_turtle_says_what_the_triples_say(self, written: Path, triples: list[Quad]) -> None:
        turtle = list(parse(path=written / "turtle.ttl", format=RdfFormat.TURTLE))
        assert len(turtle) == len(triples) == len(set(triples))
        assert set(turtle) == set(triples)

    def test_counts_are_those_that_were_expected(self, triples: list[Quad]) -> None:
        classes = Counter(q.object.value for q in triples if q.predicate == NamedNode(TYPE))
        assert (classes[f"{BSBM}Product"], classes[f"{BSBM}Offer"]) == (PRODUCTS, 20 * PRODUCTS)
        assert classes[f"{REV}Review"] == 10 * PRODUCTS
        assert table_stream("bsbm", "triples", PRODUCTS, 1).rows_expected == len(triples)
        for relation in RELATIONS:
            expected = table_stream("bsbm", relation, PRODUCTS, 1).rows_expected
            assert expected == table(relation).num_rows, relation

    def test_references_are_to_things_that_are_there(self, triples: list[Quad]) -> None:
        subjects = {q.subject for q in triples}
        subjects |= {q.object for q in triples if q.predicate == NamedNode(f"{DC}publisher")}
        ours = [q.object for q in triples if str(q.object).startswith(f"<{INSTANCES}")]
        pages = {q.object for q in triples if q.predicate == NamedNode(f"{BSBM}offerWebpage")}
        assert {subject for subject in ours if subject not in subjects} == pages

    def test_tables_refer_to_rows_that_are_there(self) -> None:
        numbers = {name: set(column(name, "nr")) for name in RELATIONS if "nr" in columns(name)}
        for name, reference, to in (
            ("product", "producer", "producer"),
            ("offer", "product", "product"),
            ("offer", "vendor", "vendor"),
            ("review", "product", "product"),
            ("review", "person", "person"),
            ("producttypeproduct", "product", "product"),
            ("producttypeproduct", "productType", "producttype"),
            ("productfeatureproduct", "product", "product"),
            ("productfeatureproduct", "productFeature", "productfeature"),
        ):
            assert set(column(name, reference)) <= numbers[to], (name, reference)

    def test_offers_of_the_table_are_those_of_the_triples(self, triples: list[Quad]) -> None:
        said = facts(triples, "Offer")
        for row in table("offer").to_pylist():
            vendor = f"{INSTANCES}dataFromVendor{row['vendor']}"
            properties = said[f"{vendor}/Offer{row['nr']}"]
            assert properties[f"{BSBM}vendor"] == [NamedNode(f"{vendor}/Vendor{row['vendor']}")]
            assert properties[f"{BSBM}product"] == [product(row["product"], row["producer"])]
            price = Literal(f"{row['price']:.2f}", datatype=NamedNode(f"{BSBM}USD"))
            assert properties[f"{BSBM}price"] == [price]
            assert values(properties, "validFrom") == [f"{row['validFrom']:%Y-%m-%dT%H:%M:%S}"]
            assert values(properties, "validTo") == [f"{row['validTo']:%Y-%m-%dT%H:%M:%S}"]
            assert values(properties, "deliveryDays") == [str(row["deliveryDays"])]
            assert values(properties, "offerWebpage") == [row["offerWebpage"]]
            assert values(properties, "date", DC) == [str(row["publishDate"])]

    def test_reviews_of_the_table_are_those_of_the_triples(self, triples: list[Quad]) -> None:
        said = facts(triples, "Review")
        for row in table("review").to_pylist():
            site = f"{INSTANCES}dataFromRatingSite{row['publisher']}"
            properties = said[f"{site}/Review{row['nr']}"]
            assert properties[f"{REV}reviewer"] == [NamedNode(f"{site}/Reviewer{row['person']}")]
            assert properties[f"{BSBM}reviewFor"] == [product(row["product"], row["producer"])]
            assert properties[f"{REV}text"] == [Literal(row["text"], language=row["language"])]
            assert values(properties, "title", DC) == [row["title"]]
            for rating in ("rating1", "rating2", "rating3", "rating4"):
                expected = [] if row[rating] is None else [str(row[rating])]
                assert values(properties, rating) == expected

    def test_products_of_the_tables_are_those_of_the_triples(self, triples: list[Quad]) -> None:
        said = facts(triples, "Product")
        features: dict[int, list[str]] = {}
        for row in table("productfeatureproduct").to_pylist():
            feature = f"{INSTANCES}ProductFeature{row['productFeature']}"
            features.setdefault(row["product"], []).append(feature)
        types: dict[int, list[str]] = {}
        for row in table("producttypeproduct").to_pylist():
            kind = f"{INSTANCES}ProductType{row['productType']}"
            types.setdefault(row["product"], [f"{BSBM}Product"]).append(kind)
        for row in table("product").to_pylist():
            properties = said[product(row["nr"], row["producer"]).value]
            assert values(properties, "productFeature") == features.get(row["nr"], [])
            assert [kind.value for kind in properties[TYPE]] == types[row["nr"]]
            for short, long in (("Num", "Numeric"), ("Tex", "Textual")):
                for place in range(1, 7):
                    value = row[f"property{short}{place}"]
                    expected = [] if value is None else [str(value)]
                    assert values(properties, f"productProperty{long}{place}") == expected


def columns(name: str) -> list[str]:
    names: list[str] = table(name).column_names
    return names


def column(name: str, of: str) -> list[int]:
    rows: list[int] = table(name)[of].to_pylist()
    return rows


def product(number: int, producer: int) -> NamedNode:
    return NamedNode(f"{INSTANCES}dataFromProducer{producer}/Product{number}")


def facts(triples: list[Quad], kind: str) -> dict[str, dict[str, list[Any]]]:
    """Objects by property, of each thing whose IRI has the kind before its number."""
    said: dict[str, dict[str, list[Any]]] = {}
    for quad in triples:
        name = quad.subject.value.rpartition("/")[2]
        if name.rstrip("0123456789") == kind:
            properties = said.setdefault(quad.subject.value, {})
            properties.setdefault(quad.predicate.value, []).append(quad.object)
    return said


def values(said: dict[str, list[Any]], name: str, namespace: str = BSBM) -> list[str]:
    return [entry.value for entry in said.get(f"{namespace}{name}", [])]
