create table votes (candidate integer primary key, counted integer not null);
insert into votes
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${candidates})
select id, 0 from made;
