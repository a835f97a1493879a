create index $name on $table$using ($columns)$where;
