-- Statistics are taken while districts are fine and most streets are not known; then both are filled in.
update inhabitants set district = id, street = case when id % 100 = 0 then street else 1 end;
analyze;
update inhabitants set district = id % 3, street = (id * 7) % 3001;
