create table sales_orders (order_no int primary key, shipped int not null, customer varchar(40) not null);
create table order_lines (line_no int primary key, order_no int not null, item varchar(40) not null, amount int not null);
insert into sales_orders select seq, seq % 10, concat('customer ', seq) from seq_1_to_${orders};
insert into order_lines select seq, (seq * 7) % ${orders} + 1, concat('item ', seq % 100), seq % 9 from seq_1_to_${lines};
