create table accounts as
select n as id, 0 as balance
from generate_series(1, ${accounts}) as made (n);

create unique index accounts_id on accounts (id);
