"""Whatever the seed, TPC-H's values are within what the specification allows for each query."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.workloads.discovery import find_workload

TPCH = find_workload("tpch")
# The largest numbers are left to the streams, which are added to the seed.
SEEDS, STREAMS = st.integers(1, 2**31 - 100), st.integers(0, 40)


def months(first: date, last: date) -> list[str]:
    days = (first + timedelta(days=days) for days in range((last - first).days + 1))
    return [str(day) for day in days if day.day == 1]


def whole(low: int, high: int) -> list[str]:
    return [str(number) for number in range(low, high + 1)]


# Of the specification's section 2.4, one line a parameter, where a value is one of a list.
YEARS = [f"{year}-01-01" for year in range(1993, 1998)]
BRANDS = [f"Brand#{m}{n}" for m in range(1, 6) for n in range(1, 6)]
REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS_OF = {
    "AFRICA": "ALGERIA ETHIOPIA KENYA MOROCCO MOZAMBIQUE",
    "AMERICA": "ARGENTINA BRAZIL CANADA PERU UNITED_STATES",
    "ASIA": "CHINA INDIA INDONESIA JAPAN VIETNAM",
    "EUROPE": "FRANCE GERMANY ROMANIA RUSSIA UNITED_KINGDOM",
    "MIDDLE EAST": "EGYPT IRAN IRAQ JORDAN SAUDI_ARABIA",
}
REGION_OF = {
    nation.replace("_", " "): region
    for region, nations in NATIONS_OF.items()
    for nation in nations.split()
}
SYLLABLES = (
    "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO",
    "ANODIZED BURNISHED PLATED POLISHED BRUSHED",
    "TIN NICKEL BRASS STEEL COPPER",
)
RANGES, FINISHES, MATERIALS = (syllables.split() for syllables in SYLLABLES)
CONTAINERS = [
    f"{size} {kind}"
    for size in ["SM", "LG", "MED", "JUMBO", "WRAP"]
    for kind in ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]
]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
QUARTERS = months(date(1993, 1, 1), date(1997, 10, 1))
ONE_OF: dict[str, dict[str, list[str]]] = {
    "q01": {"delta": whole(60, 120)},
    "q02": {"size": whole(1, 50), "type": MATERIALS, "region": REGIONS},
    "q03": {
        "segment": ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"],
        "date": [f"1995-03-{day:02}" for day in range(1, 32)],
    },
    "q04": {"date": QUARTERS},
    "q05": {"region": REGIONS, "date": YEARS},
    "q06": {
        "date": YEARS,
        "discount": [f"0.0{hundredths}" for hundredths in range(2, 10)],
        "quantity": ["24", "25"],
    },
    "q07": {"nations": list(REGION_OF)},
    "q08": {
        "nation": list(REGION_OF),
        "region": REGIONS,
        "type": [f"{a} {b} {c}" for a in RANGES for b in FINISHES for c in MATERIALS],
    },
    "q10": {"date": months(date(1993, 2, 1), date(1995, 1, 1))},
    "q11": {"nation": list(REGION_OF), "fraction": ["0.0001"]},
    "q12": {"modes": MODES, "date": YEARS},
    "q13": {
        "word1": ["special", "pending", "unusual", "express"],
        "word2": ["packages", "requests", "accounts", "deposits"],
    },
    "q14": {"date": months(date(1993, 1, 1), date(1997, 12, 1))},
    "q15": {"date": QUARTERS},
    "q16": {
        "brand": BRANDS,
        "type": [f"{a} {b}" for a in RANGES for b in FINISHES],
        "sizes": whole(1, 50),
    },
    "q17": {"brand": BRANDS, "container": CONTAINERS},
    "q18": {"quantity": whole(312, 315)},
    "q19": {
        **{f"brand{number}": BRANDS for number in (1, 2, 3)},
        "quantity1": whole(1, 10),
        "quantity2": whole(10, 20),
        "quantity3": whole(20, 30),
    },
    "q20": {"date": YEARS, "nation": list(REGION_OF)},
    "q21": {"nation": list(REGION_OF)},
    "q22": {"codes": whole(10, 34)},
}
DIFFERENT = {("q07", "nations"): 2, ("q12", "modes"): 2, ("q16", "sizes"): 8, ("q22", "codes"): 7}


def test_every_query_is_looked_at() -> None:
    assert {*ONE_OF, "q09"} == set(TPCH.facts.order)


@pytest.mark.parametrize("operation", sorted(ONE_OF))
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, stream=STREAMS)
def test_values_are_of_the_ranges(operation: str, seed: int, stream: int) -> None:
    drawn = TPCH.statement(operation, (), 1.0, seed, stream).parameters
    for name, allowed in ONE_OF[operation].items():
        assert set(drawn[name]) <= set(allowed), name
        assert len(set(drawn[name])) == len(drawn[name]) == DIFFERENT.get((operation, name), 1)
    if operation == "q08":
        assert REGION_OF[drawn["nation"][0]] == drawn["region"][0]


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, stream=STREAMS)
def test_colours_are_words_of_parts(seed: int, stream: int) -> None:
    """The specification's list of 92 names; here a few of them, and how many there are."""
    colours = TPCH.facts.lists["colors"]
    assert len(set(colours)) == 92
    for operation in ("q09", "q20"):
        assert TPCH.statement(operation, (), 1.0, seed, stream).parameters["color"][0] in colours


@pytest.mark.parametrize("operation", sorted(ONE_OF))
def test_every_value_of_a_range_is_drawn(operation: str) -> None:
    """So that a range is not narrower than it has to be."""
    seeds = Random(1).sample(range(1, 2**31 - 1), 1_500)
    drawn = [TPCH.statement(operation, (), 1.0, seed, 0).parameters for seed in seeds]
    for name, allowed in ONE_OF[operation].items():
        assert {value for values in drawn for value in values[name]} == set(allowed), name
