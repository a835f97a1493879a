-- why: SQLite has no series, no repeat and no md5: ids come from a recursion, texts from four multiplications of an id.
-- The same numbers as everywhere, and texts of the same length that are other ones.

insert into entries (id, k, c, pad)
with recursive
made (id) as (
  select 1
  union all
  select id + 1 from made where id < ${entries}
),
hashed as (
  select
    id,
    format(
      '%08x%08x%08x%08x',
      id * 2654435761 % 4294967296,
      id * 2246822519 % 4294967296,
      id * 3266489917 % 4294967296,
      id * 668265263 % 4294967296
    ) as words
  from made
)
select
  id,
  id * 7919 % ${entries} + 1,
  substr(words || words || words || words, 1, 120),
  substr(words || words, 5, 60)
from hashed;
