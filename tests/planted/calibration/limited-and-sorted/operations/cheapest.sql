-- Which scrap of this metal is cheapest?
select id, price, yard from scrap_metal where metal = ${metal} order by price limit 8
