-- The type stays the same: this writes the table anew with the values and leaves no dead rows.
alter table $table add column $column $type;
alter table $table alter column $column type $type using ($expression);
vacuum analyze $table;
