-- The same rows on every engine and every day: nothing here is random.
insert into towns (town, region, visits)
with recursive made (id) as (
  select 1
  union all
  select id + 1 from made where id < ${towns}
)
select
  id,
  case id % 4 when 0 then 'north' when 1 then 'east' when 2 then 'south' else 'west' end,
  id % 10
from made;
