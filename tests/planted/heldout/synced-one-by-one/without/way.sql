-- A suitcase went from gate to gate.
begin;
insert into luggage_scans (tag, gate_no) values (${tag}, 1);
insert into luggage_scans (tag, gate_no) values (${tag}, 2);
insert into luggage_scans (tag, gate_no) values (${tag}, 3);
insert into luggage_scans (tag, gate_no) values (${tag}, 4);
insert into luggage_scans (tag, gate_no) values (${tag}, 5);
insert into luggage_scans (tag, gate_no) values (${tag}, 6);
insert into luggage_scans (tag, gate_no) values (${tag}, 7);
insert into luggage_scans (tag, gate_no) values (${tag}, 8);
commit
