"""No finding advises an index that the table has already."""

from __future__ import annotations

import apsw
import pytest

from assay.analysis.findings.advising import expression_advice, index_advice
from assay.analysis.findings.existing_index import against_existing, is_equal
from assay.engines.sqlite.catalogue import indexes_of
from assay.model.catalogue import Index
from assay.model.finding import Advice
from tests.cases import case, operation

BY_DAY = Index("orders", "by_day", ("day", "clerk"), method="btree")


@pytest.mark.parametrize(
    ("index", "keys", "equal"),
    [
        (BY_DAY, ["day", "clerk"], True),
        (BY_DAY, ['"Day"', "clerk"], True),
        (BY_DAY, ["day desc", "clerk desc"], True),
        (BY_DAY, ["day desc", "clerk"], False),
        (BY_DAY, ["clerk", "day"], False),
        (BY_DAY, ["day"], False),
        (BY_DAY, ["day text_pattern_ops", "clerk"], False),
        (Index("t", "i", ("a", "b"), directions=("desc", "asc")), ["a desc", "b"], True),
        (Index("t", "i", ("a", "b"), directions=("desc", "asc")), ["a", "b desc"], True),
        (Index("t", "i", ("a", "b"), directions=("desc", "asc")), ["a", "b"], False),
        (Index("t", "i", ("a",), directions=("desc nulls last",)), ["a nulls first"], True),
        (Index("t", "i", ("a",), directions=("desc nulls last",)), ["a"], False),
        (Index("t", "i", ("lower(a)",)), ["(lower(a))"], True),
        (Index("t", "i", ("lower(a)",)), ["(upper(a))"], False),
        (Index("t", "i", ("a",), collations=("nocase",)), ["a collate NOCASE"], True),
        (Index("t", "i", ("a",), collations=("nocase",)), ["a collate binary"], False),
        (Index("t", "i", ("a",), collations=("binary",)), ["a collate nocase"], False),
        # Without a reported collation, the index has the default one.
        (Index("t", "i", ("a",)), ["a collate binary"], True),
        # The index has another collation than its column, which an advised index would have.
        (Index("t", "i", ("a",), collation="nocase", collations=("nocase",)), ["a"], False),
        (Index("t", "i", ("a",), collation="text_pattern_ops"), ["a text_pattern_ops"], True),
        (Index("t", "i", ("a",), predicate="a > 0"), ["a"], False),
        (Index("t", "i", ("a",), valid=False), ["a"], False),
        (Index("t", "i", ("a",), method="hash"), ["a"], False),
    ],
)
def test_an_index_equals_one_with_the_same_keys(
    index: Index, keys: list[str], *, equal: bool
) -> None:
    assert is_equal(index, keys) is equal


@pytest.mark.parametrize(
    ("advice", "is_ruled_out"),
    [
        (index_advice("orders", ("day", "clerk"), None, 0.5), True),
        (index_advice("orders", ("day",), None, 0.5), False),
        (index_advice("others", ("day", "clerk"), None, 0.5), False),
        (expression_advice("orders", "(lower(day))", None, 0.5), False),
        (Advice("index", "orders", {"statement": "reindex", "name": "by_day"}, 0.5), False),
        (Advice("statistics", "orders", {}, 0.5), False),
    ],
)
def test_an_existing_index_rules_out_the_finding_that_advises_it(
    advice: Advice, *, is_ruled_out: bool
) -> None:
    run_case = case(operation(), indexes={"orders": (BY_DAY,)})
    assert bool(against_existing(advice, run_case.indexes or {})) is is_ruled_out
    finding = run_case.finding("missing-index", "claim", {"q1": 0.5}, advice=advice)
    assert bool(finding.contradictions) is is_ruled_out


def test_sqlite_reports_the_direction_and_collation_of_each_key_column() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "create table t (a text collate nocase, b int);"
        "create index plain on t (a, b desc);"
        "create index exact on t (a collate binary);"
        "create index computed on t (lower(a))"
    )
    indexes = {index.name: index for index in indexes_of(connection)}
    assert indexes["plain"].directions == ("asc", "desc")
    assert indexes["plain"].collations == ("nocase", "binary")
    assert indexes["plain"].collation is None
    assert indexes["exact"].collation == "binary"
    assert indexes["exact"].collations == ("binary",)
    assert Index.read(indexes["computed"].facts()) == indexes["computed"]
