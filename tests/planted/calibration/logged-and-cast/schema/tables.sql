create table shelves as select id as shelf_no, id % 9 as floor from generate_series(1, ${shelves}) as made (id);
alter table shelves add primary key (shelf_no);
