create table travel_parties (ref integer primary key, agent integer not null, size integer not null);
create table flight_coupons (id integer primary key, booking_ref integer not null, airport integer not null, cents integer not null);
insert into travel_parties
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${travel_parties})
select id, id % 400, id % 9 from made;
create index travel_parties_agent on travel_parties (agent);
insert into flight_coupons
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${flight_coupons})
select id, (id * 31) % 8000 + 1, id % 300, id % 70001 from made;
