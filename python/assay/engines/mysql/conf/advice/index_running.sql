create index $name on $table ($columns) algorithm=inplace lock=none;
