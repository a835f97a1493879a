alter table $table add column $column $type;
update $table set $column = ($expression);
