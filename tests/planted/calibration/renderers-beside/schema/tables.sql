create table puppet_plays (id integer primary key, town integer not null, theatre integer not null, children integer not null);
insert into puppet_plays
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${puppet_plays})
select id, id % 20, id % 97, id % 211 from made;
create index puppet_plays_town on puppet_plays (town, theatre, children);
