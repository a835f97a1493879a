create table jobs as
select id, case when id % 700 = 0 then 'small' else 'large' end as queue, id % 50 as state, repeat('j', 40) as body
from generate_series(1, ${jobs}) as made (id);
create index jobs_queue on jobs (queue);
