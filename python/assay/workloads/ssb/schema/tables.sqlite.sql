-- why: in SQLite the primary key says where a row is kept, so it cannot be added later; the rows come in its order.
-- Money is in cents and dates are numbers such as 19940131, so that all arithmetic is on whole numbers.

create table dates (
  d_datekey integer primary key,
  d_date text not null,
  d_dayofweek text not null,
  d_month text not null,
  d_year integer not null,
  d_yearmonthnum integer not null,
  d_yearmonth text not null,
  d_daynuminweek integer not null,
  d_daynuminmonth integer not null,
  d_daynuminyear integer not null,
  d_monthnuminyear integer not null,
  d_weeknuminyear integer not null,
  d_sellingseason text not null,
  d_lastdayinweekfl integer not null,
  d_lastdayinmonthfl integer not null,
  d_holidayfl integer not null,
  d_weekdayfl integer not null
);

create table supplier (
  s_suppkey integer primary key,
  s_name text not null,
  s_address text not null,
  s_city text not null,
  s_nation text not null,
  s_region text not null,
  s_phone text not null
);

create table customer (
  c_custkey integer primary key,
  c_name text not null,
  c_address text not null,
  c_city text not null,
  c_nation text not null,
  c_region text not null,
  c_phone text not null,
  c_mktsegment text not null
);

create table part (
  p_partkey integer primary key,
  p_name text not null,
  p_mfgr text not null,
  p_category text not null,
  p_brand1 text not null,
  p_color text not null,
  p_type text not null,
  p_size integer not null,
  p_container text not null
);

create table lineorder (
  lo_orderkey integer not null,
  lo_linenumber integer not null,
  lo_custkey integer not null,
  lo_partkey integer not null,
  lo_suppkey integer not null,
  lo_orderdate integer not null,
  lo_orderpriority text not null,
  lo_shippriority text not null,
  lo_quantity integer not null,
  lo_extendedprice integer not null,
  lo_ordtotalprice integer not null,
  lo_discount integer not null,
  lo_revenue integer not null,
  lo_supplycost integer not null,
  lo_tax integer not null,
  lo_commitdate integer not null,
  lo_shipmode text not null,
  primary key (lo_orderkey, lo_linenumber)
) without rowid;
