-- why: MariaDB 10.11 reads the whole table for a delete whose subquery lists the keys; it joins where tables are joined.
begin;
delete lineitem
from orders_old
inner join lineitem
  on l_orderkey = orders_old.o_orderkey
where set_number = ${set}
  and order_number between ${first} and ${last};
delete orders
from orders_old
inner join orders
  on orders.o_orderkey = orders_old.o_orderkey
where set_number = ${set}
  and order_number between ${first} and ${last};
commit;
