-- why: SQLite locks no rows, and does not know the words.
-- What is known of an item in stock, so that nobody else takes it?
begin;
select *
from stock
where s_i_id = ${i_id} and s_w_id = ${w_id};
rollback;
