alter table item add constraint item_key primary key (i_id);
alter table warehouse add constraint warehouse_key primary key (w_id);
alter table district add constraint district_key primary key (d_w_id, d_id);
alter table customer add constraint customer_key primary key (c_w_id, c_d_id, c_id);
alter table stock add constraint stock_key primary key (s_w_id, s_i_id);
alter table orders add constraint orders_key primary key (o_w_id, o_d_id, o_id);
alter table new_order add constraint new_order_key primary key (no_w_id, no_d_id, no_o_id);
alter table order_line add constraint order_line_key primary key (ol_w_id, ol_d_id, ol_o_id, ol_number);
