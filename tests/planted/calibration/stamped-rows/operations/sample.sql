-- A sample comes in.
insert into samples (kind) values (${kind})
