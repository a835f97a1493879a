create table drawers as select id, 0 as cents from generate_series(1, ${drawers}) as made (id);
alter table drawers add primary key (id);
