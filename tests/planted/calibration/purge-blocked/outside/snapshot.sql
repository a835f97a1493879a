select count(*) from surgery_list;
