create temporary table $name as select * from $table order by $columns;
truncate $table;
insert into $table select * from $name;
drop table $name;
checkpoint;
