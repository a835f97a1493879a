-- why: in Virtuoso a table is kept by columns where its primary key says so, which cannot be added to a filled table.
-- Rows that refresh functions put in, and keys of orders that they take out. Both are numbered: `set_number` says which
-- execution they are of, `order_number` which order of it, so that a batch is a range of orders.

create table orders_new (
  set_number integer not null,
  order_number integer not null,
  o_orderkey bigint not null,
  o_custkey bigint not null,
  o_orderstatus char(1) not null,
  o_totalprice double precision not null,
  o_orderdate date not null,
  o_orderpriority char(15) not null,
  o_clerk char(15) not null,
  o_shippriority integer not null,
  o_comment varchar(79) not null,
  primary key (set_number, order_number) column
);

create table lineitem_new (
  set_number integer not null,
  order_number integer not null,
  l_orderkey bigint not null,
  l_partkey bigint not null,
  l_suppkey bigint not null,
  l_linenumber integer not null,
  l_quantity double precision not null,
  l_extendedprice double precision not null,
  l_discount double precision not null,
  l_tax double precision not null,
  l_returnflag char(1) not null,
  l_linestatus char(1) not null,
  l_shipdate date not null,
  l_commitdate date not null,
  l_receiptdate date not null,
  l_shipinstruct char(25) not null,
  l_shipmode char(10) not null,
  l_comment varchar(44) not null,
  primary key (set_number, order_number, l_linenumber) column
);

create table orders_old (
  set_number integer not null,
  order_number integer not null,
  o_orderkey bigint not null,
  primary key (set_number, order_number) column
);
