delete from sqlite_stat1 where tbl = $table_text;
