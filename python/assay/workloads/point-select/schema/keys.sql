alter table entries add constraint entries_key primary key (id);
