"""Rows of BSBM's tables as RDF has them, and as a record keeps them of the driver's session for SPARQL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb

INSTANCES = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/"
VOCABULARY = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
COUNTRIES = "http://downlode.org/rdf/iso-3166/countries#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DC = "http://purl.org/dc/elements/1.1/"
FOAF = "http://xmlns.com/foaf/0.1/"
WHOLE_TYPES = {"integer", "int", "long", "decimal", "nonNegativeInteger"}

Term = tuple[str, str | None, str | None]


@dataclass(frozen=True)
class Rows:
    """An answer: names of columns, and rows of values as a record keeps them."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


class Things:
    """Names of things by their numbers."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        def owners(table: str, owner: str) -> dict[int, int]:
            return dict(connection.table(table).select("nr", owner).fetchall())

        self._producers = owners("product", "producer")
        self._vendors = owners("offer", "vendor")
        self._sites = owners("review", "publisher")
        self._sites_of_persons = owners("person", "publisher")

    def product(self, number: int) -> Term:
        return _iri(f"{INSTANCES}dataFromProducer{self._producers[number]}/Product{number}")

    def offer(self, number: int) -> Term:
        return _iri(f"{INSTANCES}dataFromVendor{self._vendors[number]}/Offer{number}")

    def vendor(self, number: int) -> Term:
        return _iri(f"{INSTANCES}dataFromVendor{number}/Vendor{number}")

    def review(self, number: int) -> Term:
        return _iri(f"{INSTANCES}dataFromRatingSite{self._sites[number]}/Review{number}")

    def person(self, number: int) -> Term:
        site = self._sites_of_persons[number]
        return _iri(f"{INSTANCES}dataFromRatingSite{site}/Reviewer{number}")

    def site(self, number: int) -> Term:
        return _iri(f"{INSTANCES}dataFromRatingSite{number}/RatingSite{number}")

    def feature(self, number: int) -> Term:
        return _iri(f"{INSTANCES}ProductFeature{number}")

    def kind(self, number: int) -> Term:
        return _iri(f"{INSTANCES}ProductType{number}")

    def country(self, code: str) -> Term:
        return _iri(COUNTRIES + code)


def _iri(text: str) -> Term:
    return (text, "iri", None)


def _text(value: object) -> Term:
    return (str(value), None, None)


def _english(value: object) -> Term:
    return (str(value), None, "en")


def _number(value: object) -> Term:
    return (str(value), XSD + "integer", None)


def _float(value: object) -> Term:
    return (repr(value), XSD + "double", None)


def _price(value: object) -> Term:
    return (str(value), VOCABULARY + "USD", None)


def _moment(value: datetime) -> Term:
    return (value.isoformat(), XSD + "dateTime", None)


def _day(value: date) -> Term:
    return (value.isoformat(), XSD + "date", None)


def _by(*kinds: str | Callable[[Any], Term]) -> Any:
    """Each column by its kind: a function, or the name of one of `Things`."""

    def translated(things: Things, rows: list[tuple[Any, ...]]) -> list[tuple[Term | None, ...]]:
        makes = [getattr(things, kind) if isinstance(kind, str) else kind for kind in kinds]
        return [
            tuple(
                None if cell is None else make(cell) for make, cell in zip(makes, row, strict=True)
            )
            for row in rows
        ]

    return translated


def _person(things: Things, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Term, ...]]:
    for number, name, mailbox, country, site, day in rows:
        subject = things.person(number)
        yield (subject, _iri(RDF + "type"), _iri(FOAF + "Person"))
        yield (subject, _iri(FOAF + "name"), _text(name))
        yield (subject, _iri(FOAF + "mbox_sha1sum"), _text(mailbox))
        yield (subject, _iri(VOCABULARY + "country"), things.country(country))
        yield (subject, _iri(DC + "publisher"), things.site(site))
        yield (subject, _iri(DC + "date"), _day(day))


def _offer(things: Things, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Term | None, ...]]:
    for product, _, vendor, price, first, last, days, page, publisher, day in rows:
        facts = (
            (RDF + "type", _iri(VOCABULARY + "Offer")),
            (VOCABULARY + "product", things.product(product)),
            (VOCABULARY + "vendor", things.vendor(vendor)),
            (VOCABULARY + "price", _price(price)),
            (VOCABULARY + "validFrom", _moment(first)),
            (VOCABULARY + "validTo", _moment(last)),
            (VOCABULARY + "deliveryDays", _number(days)),
            (VOCABULARY + "offerWebpage", _iri(page)),
            (DC + "publisher", things.vendor(publisher)),
            (DC + "date", _day(day)),
        )
        for name, value in facts:
            yield (_iri(name), value, None)


def _export(things: Things, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Term, ...]]:
    export = VOCABULARY + "export/"
    for offer, product, label, vendor, homepage, page, price, days, last in rows:
        facts = (
            ("product", things.product(product)),
            ("productlabel", _text(label)),
            ("vendor", _text(vendor)),
            ("vendorhomepage", _iri(homepage)),
            ("offerURL", _iri(page)),
            ("price", _price(price)),
            ("deliveryDays", _number(days)),
            ("validuntil", _moment(last)),
        )
        for name, value in facts:
            yield (things.offer(offer), _iri(export + name), value)


TRIPLE = ("subject", "predicate", "object")
COLUMNS: dict[tuple[str, str], tuple[str, ...]] = {
    ("bsbm", "q1"): ("product", "label"),
    ("bsbm", "q2"): (
        "label",
        "comment",
        "producer",
        "productFeature",
        *(f"propertyTextual{n}" for n in (1, 2, 3)),
        "propertyNumeric1",
        "propertyNumeric2",
        "propertyTextual4",
        "propertyTextual5",
        "propertyNumeric4",
    ),
    ("bsbm", "q3"): ("product", "label"),
    ("bsbm", "q4"): ("product", "label", "propertyTextual"),
    ("bsbm", "q5"): ("product", "productLabel"),
    ("bsbm", "q7"): (
        "productLabel",
        "offer",
        "price",
        "vendor",
        "vendorTitle",
        "review",
        "revTitle",
        "reviewer",
        "revName",
        "rating1",
        "rating2",
    ),
    ("bsbm", "q8"): (
        "title",
        "text",
        "reviewDate",
        "reviewer",
        "reviewerName",
        *(f"rating{n}" for n in (1, 2, 3, 4)),
    ),
    ("bsbm", "q9"): TRIPLE,
    ("bsbm", "q10"): ("offer", "price"),
    ("bsbm", "q11"): ("property", "hasValue", "isValueOf"),
    ("bsbm", "q12"): TRIPLE,
    ("bsbm-bi", "q1"): ("productType", "reviewCount"),
    ("bsbm-bi", "q2"): ("otherProduct", "sameFeatures"),
    ("bsbm-bi", "q3"): ("product", "ratio"),
    ("bsbm-bi", "q4"): ("feature", "priceRatio"),
    ("bsbm-bi", "q5"): ("country", "product", "nrOfReviews", "avgPrice"),
    ("bsbm-bi", "q6"): ("reviewer", "reviewerAvgScore"),
    ("bsbm-bi", "q7"): ("product",),
    ("bsbm-bi", "q8"): ("vendor", "cheapExpensiveRatio"),
}
TRANSLATED: dict[tuple[str, str], Any] = {
    ("bsbm", "q1"): _by("product", _text),
    ("bsbm", "q2"): _by(*[_text] * 7, _number, _number, _text, _text, _number),
    ("bsbm", "q3"): _by("product", _text),
    ("bsbm", "q4"): _by("product", _text, _text),
    ("bsbm", "q5"): _by("product", _text),
    ("bsbm", "q7"): _by(
        _text, "offer", _price, "vendor", _text, "review", _text, "person", _text, _number, _number
    ),
    ("bsbm", "q8"): _by(_text, _english, _moment, "person", _text, *[_number] * 4),
    ("bsbm", "q9"): _person,
    ("bsbm", "q10"): _by("offer", _price),
    ("bsbm", "q11"): _offer,
    ("bsbm", "q12"): _export,
    ("bsbm-bi", "q1"): _by("kind", _number),
    ("bsbm-bi", "q2"): _by("product", _number),
    ("bsbm-bi", "q3"): _by("product", _float),
    ("bsbm-bi", "q4"): _by("feature", _float),
    ("bsbm-bi", "q5"): _by("country", "product", _number, _float),
    ("bsbm-bi", "q6"): _by("person", _float),
    ("bsbm-bi", "q7"): _by("product"),
    ("bsbm-bi", "q8"): _by("vendor", _float),
}


def kept(columns: tuple[str, ...], rows: Any) -> Rows:
    """Rows of terms as they are kept: a column of numbers, days or moments by value, others as N-Triples."""
    rows = list(rows)
    native = [_shape([row[place] for row in rows]) for place in range(len(columns))]
    return Rows(
        columns,
        [
            tuple(
                None if cell is None else make(cell) if make else _written(cell)
                for make, cell in zip(native, row, strict=True)
            )
            for row in rows
        ],
    )


def _shape(cells: list[Term | None]) -> Callable[[Term], object] | None:
    types = Counter((cell[1] or "").removeprefix(XSD) for cell in cells if cell is not None)
    if not types:
        return None
    if set(types) <= WHOLE_TYPES:
        return lambda cell: Decimal(cell[0])
    if set(types) <= WHOLE_TYPES | {"double", "float"}:
        return lambda cell: float(cell[0])
    if set(types) == {"date"}:
        return lambda cell: date.fromisoformat(cell[0])
    if set(types) == {"dateTime"}:
        return lambda cell: datetime.fromisoformat(cell[0])
    return None


def _written(cell: Term) -> str:
    text, kind, language = cell
    if kind == "iri":
        return f"<{text}>"
    if kind is not None and kind.removeprefix(XSD) in WHOLE_TYPES:
        return text
    of = f"@{language}" if language else f"^^<{kind}>" if kind not in (None, XSD + "string") else ""
    return f'"{text}"{of}'
