set session cte_max_recursion_depth = 10000000;
create table anglers (id int primary key, club int not null, called varchar(40) not null, key anglers_club (club));
insert into anglers
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${anglers})
select id, id % ${clubs} + 1, concat('angler ', id) from made;
create table catches (id int primary key, angler int not null, grams int not null, lake int not null, key catches_angler (angler));
insert into catches
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${catches})
select id, (id * 4099) % ${anglers} + 1, id * 7 % 5003, id % 31 from made;
create view catch_totals as select angler, count(*) as fish, sum(grams) as grams, max(grams) as heaviest from catches group by angler;
