-- How many suppliers without complaints can deliver parts of certain sizes, other than one brand and one kind?
select
  p_brand,
  p_type,
  p_size,
  count(distinct ps_suppkey) as supplier_cnt
from partsupp, part
where p_partkey = ps_partkey
  and p_brand <> '${brand}'
  and p_type not like '${type}%'
  and p_size in (
    ${sizes[0]}, ${sizes[1]}, ${sizes[2]}, ${sizes[3]},
    ${sizes[4]}, ${sizes[5]}, ${sizes[6]}, ${sizes[7]}
  )
  and ps_suppkey not in (
    select s_suppkey
    from supplier
    where s_comment like '%Customer%Complaints%'
  )
group by p_brand, p_type, p_size
order by supplier_cnt desc, p_brand, p_type, p_size
