analyze table $table;
