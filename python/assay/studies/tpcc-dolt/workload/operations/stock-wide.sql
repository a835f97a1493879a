-- What is known of an item in stock, so that nobody else takes it?
-- It is rolled back, because some engines write a lock that is committed.
begin;
select *
from stock
where s_i_id = ${i_id} and s_w_id = ${w_id}
for update;
rollback;
