-- Was this moth ever seen outside of county 3?
select case when exists (select 1 from moth_sightings where moth = ${moth} and county <> 3) then 1 else 0 end as seen
