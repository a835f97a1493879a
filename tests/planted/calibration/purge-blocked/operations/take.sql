-- The first is called in.
delete from surgery_list order by place limit 1
