-- All of some bolts.
select max(t0.title) as title0, max(t1.title) as title1, max(t2.title) as title2, max(t3.title) as title3, max(t4.title) as title4, max(t5.title) as title5, max(t6.title) as title6
from bolts b
join bolt_threads t0 on t0.code = b.threads
join bolt_heads t1 on t1.code = b.heads
join bolt_alloys t2 on t2.code = b.alloys
join bolt_coats t3 on t3.code = b.coats
join bolt_makers t4 on t4.code = b.makers
join bolt_racks t5 on t5.code = b.racks
join bolt_halls t6 on t6.code = b.halls
where b.bolt between 10 and 60
