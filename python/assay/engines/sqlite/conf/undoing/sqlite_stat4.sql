-- Statements that insert the samples that a table of the file has in the statistics.
select
  format(
    'insert into sqlite_stat4 values (%s, %s, %s, %s, %s, %s);',
    quote(tbl),
    quote(idx),
    quote(neq),
    quote(nlt),
    quote(ndlt),
    quote(sample)
  )
from sqlite_stat4
where tbl = ? collate nocase
