analyze table $table update histogram on $columns;
