-- How many shops had an order on the latest day?
select count(distinct shops.name)
from orders join shops on orders.shop = shops.id
where orders.day = 1000
