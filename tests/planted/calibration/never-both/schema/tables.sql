create table guests as select id, 'guest ' || id as name, repeat('g', 40) as note from generate_series(1, ${guests}) as made (id);
alter table guests add primary key (id);
create table tickets as
select id, id % 10 as desk, case when id % 10 = 7 then case when id % 9000 = 7 then 'open' else 'shut' end else 'open' end as state,
    (id * 7919) % ${guests} + 1 as guest
from generate_series(1, ${tickets}) as made (id);
create index tickets_desk on tickets (desk, state);
