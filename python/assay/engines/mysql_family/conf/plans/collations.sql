-- why: two columns of different collations are compared after one was converted, and an index of that one is not used
-- The manuals' order: a Unicode character set is kept and others are converted, the larger Unicode set is kept, and
-- of one character set the byte order is.
select table_schema, table_name, column_name, collation_name,
  2 * case when character_set_name in ('utf8mb4', 'utf16', 'utf16le', 'utf32') then 3
           when character_set_name in ('utf8mb3', 'utf8', 'ucs2') then 2
           else 1 end + (collation_name like '%\\_bin')
from information_schema.columns
where collation_name is not null and table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
order by not table_schema <=> database(), table_schema, table_name, ordinal_position
