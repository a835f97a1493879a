analyze table $table drop histogram on $columns;
