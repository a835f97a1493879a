drop index $name on $table;
