-- Customers are found by their last name, in the order of the first; the last order by its customer.
create index customer_by_name on customer (c_w_id, c_d_id, c_last, c_first);
create index orders_by_customer on orders (o_w_id, o_d_id, o_c_id, o_id);
