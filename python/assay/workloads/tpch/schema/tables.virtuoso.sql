-- why: in Virtuoso a table is kept by columns where its primary key says so, which cannot be added to a filled table.
-- Money is binary floating point: decimals are kept value by value, each as long as its digits.

create table region (
  r_regionkey bigint not null,
  r_name char(25) not null,
  r_comment varchar(152) not null,
  primary key (r_regionkey) column
);

create table nation (
  n_nationkey bigint not null,
  n_name char(25) not null,
  n_regionkey bigint not null,
  n_comment varchar(152) not null,
  primary key (n_nationkey) column
);

create table supplier (
  s_suppkey bigint not null,
  s_name char(25) not null,
  s_address varchar(40) not null,
  s_nationkey bigint not null,
  s_phone char(15) not null,
  s_acctbal double precision not null,
  s_comment varchar(101) not null,
  primary key (s_suppkey) column
);

create table customer (
  c_custkey bigint not null,
  c_name varchar(25) not null,
  c_address varchar(40) not null,
  c_nationkey bigint not null,
  c_phone char(15) not null,
  c_acctbal double precision not null,
  c_mktsegment char(10) not null,
  c_comment varchar(117) not null,
  primary key (c_custkey) column
);

create table part (
  p_partkey bigint not null,
  p_name varchar(55) not null,
  p_mfgr char(25) not null,
  p_brand char(10) not null,
  p_type varchar(25) not null,
  p_size integer not null,
  p_container char(10) not null,
  p_retailprice double precision not null,
  p_comment varchar(23) not null,
  primary key (p_partkey) column
);

create table partsupp (
  ps_partkey bigint not null,
  ps_suppkey bigint not null,
  ps_availqty integer not null,
  ps_supplycost double precision not null,
  ps_comment varchar(199) not null,
  primary key (ps_partkey, ps_suppkey) column
);

create table orders (
  o_orderkey bigint not null,
  o_custkey bigint not null,
  o_orderstatus char(1) not null,
  o_totalprice double precision not null,
  o_orderdate date not null,
  o_orderpriority char(15) not null,
  o_clerk char(15) not null,
  o_shippriority integer not null,
  o_comment varchar(79) not null,
  primary key (o_orderkey) column
);

create table lineitem (
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
  primary key (l_orderkey, l_linenumber) column
);
