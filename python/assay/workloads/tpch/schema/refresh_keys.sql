-- For row-store servers, so that a batch finds its orders without reading those of all other sets.

create unique index orders_new_index on orders_new (set_number, order_number);
create unique index lineitem_new_index on lineitem_new (set_number, order_number, l_linenumber);
create unique index orders_old_index on orders_old (set_number, order_number);
