-- The condition of a scan follows, as its plan shows it, with the table's name for its alias.
select count(*) from {table} where
