create statistics $in_schema$name on $columns from $table;
analyze $table;
