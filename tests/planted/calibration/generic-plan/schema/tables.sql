create table jobs as
select id, case when id between 6000 and 6100 then 'small' else 'large' end as queue, id % 50 as state, repeat('j', 40) as body
from generate_series(1, ${jobs}) as made (id);
alter table jobs add primary key (id);
create index jobs_queue on jobs (queue);
