alter table pages add constraint pages_key primary key (id);
