update inhabitants set district = id, street = case when id % 100 = 0 then street else 1 end;
update inhabitants set district = id % 3, street = (id * 7) % 3001;
analyze;
