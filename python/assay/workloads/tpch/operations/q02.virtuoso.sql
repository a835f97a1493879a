-- why: Virtuoso has no limit; top says how many rows.
-- Which supplier of a region offers each part of a given size and material at that region's lowest cost?
select top 100
  s_acctbal,
  s_name,
  n_name,
  p_partkey,
  p_mfgr,
  s_address,
  s_phone,
  s_comment
from part, supplier, partsupp, nation, region
where p_partkey = ps_partkey
  and s_suppkey = ps_suppkey
  and p_size = ${size}
  and p_type like '%${type}'
  and s_nationkey = n_nationkey
  and n_regionkey = r_regionkey
  and r_name = '${region}'
  and ps_supplycost = (
    select min(ps_supplycost)
    from partsupp, supplier, nation, region
    where p_partkey = ps_partkey
      and s_suppkey = ps_suppkey
      and s_nationkey = n_nationkey
      and n_regionkey = r_regionkey
      and r_name = '${region}'
  )
order by s_acctbal desc, n_name, s_name, p_partkey
