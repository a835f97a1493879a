-- The number that DuckDB reads from the text of a setting; null if the text is none.
select try_cast($1 as bigint)
