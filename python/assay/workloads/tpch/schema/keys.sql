-- For row-store servers, after loading. Column stores skip this file: they answer by scanning, and several
-- of them can neither add a key to a filled table nor gain anything from it.

alter table region add constraint region_key primary key (r_regionkey);
alter table nation add constraint nation_key primary key (n_nationkey);
alter table supplier add constraint supplier_key primary key (s_suppkey);
alter table customer add constraint customer_key primary key (c_custkey);
alter table part add constraint part_key primary key (p_partkey);
alter table partsupp add constraint partsupp_key primary key (ps_partkey, ps_suppkey);
alter table orders add constraint orders_key primary key (o_orderkey);
alter table lineitem add constraint lineitem_key primary key (l_orderkey, l_linenumber);

alter table nation
  add constraint nation_region foreign key (n_regionkey) references region (r_regionkey);
alter table supplier
  add constraint supplier_nation foreign key (s_nationkey) references nation (n_nationkey);
alter table customer
  add constraint customer_nation foreign key (c_nationkey) references nation (n_nationkey);
alter table partsupp
  add constraint partsupp_part foreign key (ps_partkey) references part (p_partkey);
alter table partsupp
  add constraint partsupp_supplier foreign key (ps_suppkey) references supplier (s_suppkey);
alter table orders
  add constraint orders_customer foreign key (o_custkey) references customer (c_custkey);
alter table lineitem
  add constraint lineitem_orders foreign key (l_orderkey) references orders (o_orderkey);
alter table lineitem
  add constraint lineitem_partsupp foreign key (l_partkey, l_suppkey) references partsupp (ps_partkey, ps_suppkey);
