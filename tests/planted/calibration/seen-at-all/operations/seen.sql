-- Was this moth ever seen outside of county 3?
select case when count(*) > 0 then 1 else 0 end as seen from moth_sightings where moth = ${moth} and county <> 3
