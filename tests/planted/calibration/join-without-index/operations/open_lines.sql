-- How much is open?
select count(*) as counted, sum(l.amount) as amount
from sales_orders o straight_join order_lines l on l.order_no = o.order_no
where o.shipped = 0
