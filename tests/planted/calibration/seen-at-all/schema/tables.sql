create table moth_sightings (id integer primary key, moth integer not null, county integer not null, observer text not null, remark text not null);
insert into moth_sightings
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${moth_sightings})
select id, id % ${moths} + 1, id * 7 % 41, 'observer ' || id % 333, 'flew by at dusk near the hedge' from made;
create index moth_sightings_moth on moth_sightings (moth);
