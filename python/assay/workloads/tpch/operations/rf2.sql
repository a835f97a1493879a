-- Old orders go with their lines, so many in one transaction; lines first, because they refer to orders.
begin;
delete from lineitem
where l_orderkey in (
  select o_orderkey
  from orders_old
  where set_number = ${set}
    and order_number between ${first} and ${last}
);
delete from orders
where o_orderkey in (
  select o_orderkey
  from orders_old
  where set_number = ${set}
    and order_number between ${first} and ${last}
);
commit;
