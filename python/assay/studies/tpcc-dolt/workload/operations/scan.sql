-- Who of a district lives here? No index has the column, so all customers of the district are looked at.
select c_id
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_zip = ${c_zip}
order by c_first
