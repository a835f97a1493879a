-- A carrier is tried and dropped.
begin;
insert into carriers (id, title) values (${carrier}, 'trial') on conflict do nothing;
delete from carriers where id = ${carrier};
commit;
