-- why: in SQLite the primary key says where a row is kept, so it cannot be added later; the rows come in its order.
-- Numbers with a fraction are binary floating point and dates are texts in ISO form, for SQLite has nothing else.

create table region (
  r_regionkey integer primary key,
  r_name text not null,
  r_comment text not null
);

create table nation (
  n_nationkey integer primary key,
  n_name text not null,
  n_regionkey integer not null,
  n_comment text not null
);

create table supplier (
  s_suppkey integer primary key,
  s_name text not null,
  s_address text not null,
  s_nationkey integer not null,
  s_phone text not null,
  s_acctbal real not null,
  s_comment text not null
);

create table customer (
  c_custkey integer primary key,
  c_name text not null,
  c_address text not null,
  c_nationkey integer not null,
  c_phone text not null,
  c_acctbal real not null,
  c_mktsegment text not null,
  c_comment text not null
);

create table part (
  p_partkey integer primary key,
  p_name text not null,
  p_mfgr text not null,
  p_brand text not null,
  p_type text not null,
  p_size integer not null,
  p_container text not null,
  p_retailprice real not null,
  p_comment text not null
);

create table partsupp (
  ps_partkey integer not null,
  ps_suppkey integer not null,
  ps_availqty integer not null,
  ps_supplycost real not null,
  ps_comment text not null,
  primary key (ps_partkey, ps_suppkey)
) without rowid;

create table orders (
  o_orderkey integer primary key,
  o_custkey integer not null,
  o_orderstatus text not null,
  o_totalprice real not null,
  o_orderdate text not null,
  o_orderpriority text not null,
  o_clerk text not null,
  o_shippriority integer not null,
  o_comment text not null
);

create table lineitem (
  l_orderkey integer not null,
  l_partkey integer not null,
  l_suppkey integer not null,
  l_linenumber integer not null,
  l_quantity real not null,
  l_extendedprice real not null,
  l_discount real not null,
  l_tax real not null,
  l_returnflag text not null,
  l_linestatus text not null,
  l_shipdate text not null,
  l_commitdate text not null,
  l_receiptdate text not null,
  l_shipinstruct text not null,
  l_shipmode text not null,
  l_comment text not null,
  primary key (l_orderkey, l_linenumber)
) without rowid;
