-- All of a bolt.
select t0.title as title0, t1.title as title1, t2.title as title2, t3.title as title3, t4.title as title4, t5.title as title5, t6.title as title6, t7.title as title7, t8.title as title8, t9.title as title9
from bolts b
join bolt_threads t0 on t0.id = b.threads
join bolt_heads t1 on t1.id = b.heads
join bolt_alloys t2 on t2.id = b.alloys
join bolt_coats t3 on t3.id = b.coats
join bolt_makers t4 on t4.id = b.makers
join bolt_racks t5 on t5.id = b.racks
join bolt_halls t6 on t6.id = b.halls
join bolt_prices t7 on t7.id = b.prices
join bolt_norms t8 on t8.id = b.norms
join bolt_users t9 on t9.id = b.users
where b.bolt = 17
