alter table sbtest1 add constraint sbtest1_key primary key (id);
