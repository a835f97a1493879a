create index concurrently $name on $table ($columns);
