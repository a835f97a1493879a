create index $name on $table ($columns);
