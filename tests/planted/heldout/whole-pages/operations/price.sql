-- A new price.
update price_tags set cents = cents + 1 where id = ${tag}
