create table luggage_scans (id bigint generated always as identity primary key, tag int not null, gate_no int not null);
insert into luggage_scans (tag, gate_no) select id, id % 9 from generate_series(1, ${tags}) as made (id);
