alter table $table add column $column $type generated always as ($expression) stored;
