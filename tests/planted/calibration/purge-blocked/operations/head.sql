-- Who is first?
select place, ward, patient from surgery_list order by place limit 1
