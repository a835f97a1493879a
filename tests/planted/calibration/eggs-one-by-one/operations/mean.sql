-- How heavy are some eggs?
select avg(grams) as grams, count(*) as eggs from egg_weights where id between ${hen} * 10 and ${hen} * 10 + 20000
