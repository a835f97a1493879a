drop index $existing on $table;
