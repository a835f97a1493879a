"""Scripts are split into statements, in which a trigger or routine stays whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.engines.bridge.statements import split as split_bridge
from assay.engines.mysql_family.statements import split as split_mysql
from assay.engines.postgresql.statements import split as split_postgresql

TRIGGER = """create trigger counted after insert on orders for each row
begin
  declare n int;
  if new.id > 0 then select case when 1 then 2 end into n; end if;
  case new.id when 1 then set @x = 1; end case;
  while n < 3 do set n = n + 1; end while;
end"""
FUNCTION = (
    "create or replace function doubled(a integer) returns integer language sql\n"
    "begin atomic select a; select case when a > 0 then 2 * a end; end"
)
SPLITS = [split_bridge, split_mysql, split_postgresql]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("routine", [TRIGGER, FUNCTION])
def test_a_block_of_statements_belongs_to_its_routine(
    split: Callable[[str], list[str]], routine: str
) -> None:
    assert split(f"select 1; {routine}; select 2;") == ["select 1", routine, "select 2"]


@pytest.mark.parametrize("split", SPLITS)
def test_statements_outside_of_a_routine_end_at_each_semicolon(
    split: Callable[[str], list[str]],
) -> None:
    script = (
        "begin; insert into t values ('create function; begin'); end; "
        "create table spans (begin_at integer, trigger text); "
        "select case a when 1 then 2 end from t; commit"
    )
    assert len(split(script)) == 6
