create table notes as
select n as id, md5(cast(n as text)) as note
from generate_series(1, ${notes}) as made (n);

create table replies as
select n as id, md5(cast(n as text)) as note
from generate_series(1, ${notes}) as made (n);
