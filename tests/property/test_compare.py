"""A difference is split exactly, whatever the sides are, and intervals hold what they should."""

from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.compare.causes import Parts, amounts
from assay.analysis.compare.evidence import Evidence
from assay.analysis.compare.split import split
from assay.analysis.load.account import Account, Executed, OperationAccount
from assay.analysis.stats.student import mean_of

seconds = st.floats(0.0, 10.0)
names = st.sampled_from("abc")
executed = st.builds(Executed, st.floats(0.1, 30.0), st.floats(1e-6, 10.0))
operations = st.builds(
    OperationAccount, st.floats(0.0, 1.0), seconds, st.dictionaries(names, executed, max_size=3)
)
accounts = st.builds(
    Account, st.booleans(), st.dictionaries(names, operations, min_size=1), seconds
)
shares = st.dictionaries(st.sampled_from(["scan", "sort"]), seconds)
waits = st.dictionaries(st.sampled_from(["lock", "disk_write"]), seconds)
keys = st.tuples(names, st.one_of(st.none(), names))
parts = st.dictionaries(keys, st.builds(Parts, seconds, shares, waits))
evidence = st.dictionaries(keys, st.builds(Evidence, columns=st.sampled_from([(), ("more",)])))


@given(accounts, accounts, st.one_of(st.none(), parts), st.one_of(st.none(), parts), evidence)
def test_parts_sum_to_the_difference_of_the_wholes(
    first: Account,
    second: Account,
    ours: dict[tuple[str, str | None], Parts] | None,
    theirs: dict[tuple[str, str | None], Parts] | None,
    evidence_by_statement: dict[tuple[str, str | None], Evidence],
) -> None:
    terms = split(first, second)
    whole = second.whole_s - first.whole_s
    scale = max(1.0, first.whole_s, second.whole_s) * 100
    assert math.isclose(math.fsum(term.seconds for term in terms), whole, abs_tol=1e-12 * scale)
    all_amounts = list(amounts(terms, ours, theirs, evidence_by_statement))
    assert math.isclose(
        math.fsum(amount.seconds for amount in all_amounts), whole, abs_tol=1e-9 * scale
    )


@given(accounts)
def test_a_side_beside_itself_differs_in_nothing(account: Account) -> None:
    assert all(abs(term.seconds) < 1e-12 for term in split(account, account))


def test_nineteen_of_twenty_intervals_hold_the_difference() -> None:
    dice = random.Random(7)
    rounds, true, held = 5, 0.3, 0
    for _ in range(2_000):
        mean = mean_of([dice.gauss(true, 0.1) for _ in range(rounds)])
        assert mean.interval is not None
        held += mean.interval[0] <= true <= mean.interval[1]
    assert 0.94 <= held / 2_000 <= 0.96
