create table transmissions as
select id, id % ${tenants} + 1 as tenant, case when id % 307 = 0 then 'failed' else 'sent' end as outcome, id % 5000 as bytes, repeat('t', 60) as header
from generate_series(1, ${transmissions}) as made (id);
create index transmissions_tenant on transmissions (tenant);
