-- The two big tables in the order of their dates: Virtuoso keeps rows in the order of the primary key.
log_enable (2);

create table lineitem_by_date (
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
  primary key (l_shipdate, l_orderkey, l_linenumber) column
);

insert into lineitem_by_date select * from lineitem order by l_shipdate, l_orderkey, l_linenumber;
drop table lineitem;
alter table lineitem_by_date rename lineitem;
create column index l_ok on lineitem (l_orderkey, l_linenumber);

create table orders_by_date (
  o_orderkey bigint not null,
  o_custkey bigint not null,
  o_orderstatus char(1) not null,
  o_totalprice double precision not null,
  o_orderdate date not null,
  o_orderpriority char(15) not null,
  o_clerk char(15) not null,
  o_shippriority integer not null,
  o_comment varchar(79) not null,
  primary key (o_orderdate, o_orderkey) column
);

insert into orders_by_date select * from orders order by o_orderdate, o_orderkey;
drop table orders;
alter table orders_by_date rename orders;
create column index o_ok on orders (o_orderkey);
