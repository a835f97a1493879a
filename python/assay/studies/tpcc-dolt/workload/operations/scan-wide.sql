-- What is noted of those of a district who live here? The longest column is read, too, by some engines of all rows.
select c_id, c_data
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_zip = ${c_zip}
order by c_first
