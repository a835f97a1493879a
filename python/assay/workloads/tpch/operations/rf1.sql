-- New orders come in with their lines, so many in one transaction.
begin;
insert into orders (
  o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk,
  o_shippriority, o_comment
)
select
  o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk,
  o_shippriority, o_comment
from orders_new
where set_number = ${set}
  and order_number between ${first} and ${last};
insert into lineitem (
  l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax,
  l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode,
  l_comment
)
select
  l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax,
  l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode,
  l_comment
from lineitem_new
where set_number = ${set}
  and order_number between ${first} and ${last};
commit;
