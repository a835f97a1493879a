-- Of which types are the products of producers of one country that people of another country review most?
-- name: query
select t.productType, count(*) as reviewCount
from producer m
join product p on p.producer = m.nr
join producttypeproduct t on t.product = p.nr
join review r on r.product = p.nr
join person on person.nr = r.person
where m.country = ${country_1} and person.country = ${country_2}
group by t.productType
order by reviewCount desc, t.productType
limit 10
