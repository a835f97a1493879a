-- One index for each way from a dimension to the sales. Some row stores make these themselves; PostgreSQL does not, and
-- then it reads all sales for the few of two cities.

create index lineorder_date_index on lineorder (lo_orderdate);
create index lineorder_supplier_index on lineorder (lo_suppkey);
create index lineorder_customer_index on lineorder (lo_custkey);
create index lineorder_part_index on lineorder (lo_partkey);
