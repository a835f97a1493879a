"""Plans name tables, whatever a statement calls them."""

from __future__ import annotations

from assay.analysis.plans.aliases import aliases, by_table
from tests.cases import node, plan

TABLES = {"orders", "order_lines", "hosts"}


def test_other_names_stand_for_tables() -> None:
    text = """-- from nowhere n
    select * from orders o, public.order_lines as l join "hosts" h on true where o.a = l.b"""
    assert aliases(text, TABLES) == {"o": "orders", "l": "order_lines", "h": "hosts"}


def test_a_list_before_the_tables_hides_none() -> None:
    text = "select o.id, l.price, o.day from orders o, order_lines l where l.order_no = o.id"
    assert aliases(text, TABLES) == {"o": "orders", "l": "order_lines"}
    text = "update orders o set a = 1, b = 2 from hosts h where o.id = h.id"
    assert aliases(text, TABLES) == {"o": "orders", "h": "hosts"}


def test_a_name_of_two_tables_stands_for_neither() -> None:
    text = "select (select 1 from orders x where x.a = 1), (select 1 from hosts x)"
    assert aliases(text, TABLES) == {}


def test_what_the_catalogue_does_not_have_is_left() -> None:
    assert aliases("select * from made m where m.a = 1 order by 1", TABLES) == {}
    assert aliases("select * from orders where a = 1", TABLES) == {}


def test_scans_and_conditions_name_the_table() -> None:
    scan = node("scan", object="l", condition="filter l.order_no = o.order_no and nl.x = 1")
    its = plan(scan, text="select * from orders o join order_lines l on l.order_no = o.order_no")
    ((changed,),) = by_table({"q1": (its,)}, TABLES).values()
    assert changed.root.object == "order_lines"
    assert changed.root.condition == "filter order_lines.order_no = orders.order_no and nl.x = 1"
