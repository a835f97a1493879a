create column index $name on $table ($columns);
