alter table letters add constraint letters_key primary key (id);
