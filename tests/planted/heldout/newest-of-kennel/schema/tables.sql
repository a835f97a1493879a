create table kennel_walks (walk int primary key, kennel int not null, walked int not null, metres int not null, key kennel_walks_kennel (kennel));
insert into kennel_walks select seq, seq % ${kennels} + 1, (seq * 7919) % 1000003, seq % 5000 from seq_1_to_${walks};
