create table invoices (invoice_no int primary key, shop int not null, state char(1) not null, cents int not null, note varchar(90) not null, key invoices_shop (shop));
insert into invoices select seq, seq * 7 % ${shops} + 1, if(seq % 211 = 0, 'o', 'p'), seq % 9999, repeat('i', 70) from seq_1_to_${invoices};
