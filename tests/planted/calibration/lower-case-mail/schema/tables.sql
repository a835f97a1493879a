create table members as
select id, 'Member.' || id || '@Example.org' as mail, id % 50 as branch
from generate_series(1, ${members}) as made (id);
create index members_mail on members (mail);
