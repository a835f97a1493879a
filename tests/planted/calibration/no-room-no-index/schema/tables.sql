create table helpdesk as
select id, (id * 7919) % 30011 as caller, (id * 31) % 1000003 as urgency, md5(id::text) as subject
from generate_series(1, ${helpdesk}) as made (id);
