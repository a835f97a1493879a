delete from sqlite_stat1 where tbl = $table_text;
drop table if exists sqlite_stat4;
