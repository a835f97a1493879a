-- The same rows on every engine and every day: nothing here is random.
insert into towns (town, region, visits)
select
  id,
  case id % 4 when 0 then 'north' when 1 then 'east' when 2 then 'south' else 'west' end,
  id % 10
from generate_series(1, ${towns}) as made (id);
