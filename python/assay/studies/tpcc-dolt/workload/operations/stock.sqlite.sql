-- why: SQLite locks no rows, and does not know the words.
-- What is in stock of an item, so that nobody else takes it?
begin;
select s_quantity, s_data, s_dist_09 as s_dist
from stock
where s_i_id = ${i_id} and s_w_id = ${w_id};
rollback;
