-- SQLite's `alter table` changes no type, so this changes the type in the stored text of the table.
pragma writable_schema = on;
update sqlite_schema
set sql = (
  with declared as (
    select own.type, other.type as new_type, ' ' || lower(own.name) || ' ' as start,
      replace(replace(replace(replace(replace(lower(sql),
        char(10), ' '), char(9), ' '), ',', ' '), '(', ' '), '"', ' ') as plain
    from pragma_table_info($table_text) as own, pragma_table_info($like_table_text) as other
    where lower(own.name) = lower($column_text) and lower(other.name) = lower($like_column_text)
  ), placed as (
    select *, case
      when instr(plain, start || lower(type)) then instr(plain, start || lower(type)) + length(start)
      else instr(plain, start || ' ' || lower(type)) + length(start) + 1 end as at
    from declared
    where instr(plain, start || lower(type)) or instr(plain, start || ' ' || lower(type))
  )
  select substr(sql, 1, at - 1) || new_type || substr(sql, at + length(type)) from placed
  union all select sql limit 1
)
where type = 'table' and name = $table_text;
pragma writable_schema = reset;
create table assay_declared (
  declared integer constraint "the column is declared in another form" check (declared)
);
insert into assay_declared
select own.type = other.type
from pragma_table_info($table_text) as own, pragma_table_info($like_table_text) as other
where lower(own.name) = lower($column_text) and lower(other.name) = lower($like_column_text);
drop table assay_declared;
-- Each row is written again, so that its value gets the type.
update $table set $column = $column;
reindex $table;
analyze $table;
