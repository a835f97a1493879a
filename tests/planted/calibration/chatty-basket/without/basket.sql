-- The basket's products, in one statement.
select title, cents from products where id between ${product} and ${product} + 5
