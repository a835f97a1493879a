-- Statements that insert the rows that a table of the file has in the statistics.
select format('insert into sqlite_stat1 values (%s, %s, %s);', quote(tbl), quote(idx), quote(stat))
from sqlite_stat1
where tbl = ? collate nocase
