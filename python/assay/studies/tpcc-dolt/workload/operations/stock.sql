-- What is in stock of an item, so that nobody else takes it?
-- It is rolled back, because some engines write a lock that is committed.
begin;
select s_quantity, s_data, s_dist_09 as s_dist
from stock
where s_i_id = ${i_id} and s_w_id = ${w_id}
for update;
rollback;
