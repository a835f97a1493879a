-- why: in a delete MariaDB asks a subquery once for each row of the table; a join finds the rows by their keys.
begin;
delete lineitem
from orders_old
join lineitem on lineitem.l_orderkey = orders_old.o_orderkey
where orders_old.set_number = ${set}
  and orders_old.order_number between ${first} and ${last};
delete orders
from orders_old
join orders on orders.o_orderkey = orders_old.o_orderkey
where orders_old.set_number = ${set}
  and orders_old.order_number between ${first} and ${last};
commit;
