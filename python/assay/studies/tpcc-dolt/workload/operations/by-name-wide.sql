-- What is known of those of a district with this last name?
select *
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_last = ${c_last}
order by c_first
