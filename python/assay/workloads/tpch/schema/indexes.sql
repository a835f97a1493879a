-- One index for each foreign key that does not lead a primary key. Some row stores make these themselves;
-- PostgreSQL does not, and then the subqueries of q17 and q20 read all of lineitem once for every outer row.

create index nation_region_index on nation (n_regionkey);
create index supplier_nation_index on supplier (s_nationkey);
create index customer_nation_index on customer (c_nationkey);
create index partsupp_supplier_index on partsupp (ps_suppkey);
create index orders_customer_index on orders (o_custkey);
create index lineitem_partsupp_index on lineitem (l_partkey, l_suppkey);
