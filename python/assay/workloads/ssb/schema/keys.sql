-- For row-store servers, after loading. No query joins by lo_commitdate, and a reference of it would cost some of these
-- servers an index.

alter table dates add constraint dates_key primary key (d_datekey);
alter table supplier add constraint supplier_key primary key (s_suppkey);
alter table customer add constraint customer_key primary key (c_custkey);
alter table part add constraint part_key primary key (p_partkey);
alter table lineorder add constraint lineorder_key primary key (lo_orderkey, lo_linenumber);

alter table lineorder
  add constraint lineorder_date foreign key (lo_orderdate) references dates (d_datekey);
alter table lineorder
  add constraint lineorder_supplier foreign key (lo_suppkey) references supplier (s_suppkey);
alter table lineorder
  add constraint lineorder_customer foreign key (lo_custkey) references customer (c_custkey);
alter table lineorder
  add constraint lineorder_part foreign key (lo_partkey) references part (p_partkey);
