analyze $table;
