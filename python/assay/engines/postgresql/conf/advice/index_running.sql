create index concurrently $name on $table$using ($columns)$where;
