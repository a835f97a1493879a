-- The basket's products, one after another.
select title, cents from products where id = ${product} + 0;
select title, cents from products where id = ${product} + 1;
select title, cents from products where id = ${product} + 2;
select title, cents from products where id = ${product} + 3;
select title, cents from products where id = ${product} + 4;
select title, cents from products where id = ${product} + 5;
