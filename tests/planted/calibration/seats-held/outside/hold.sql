select count(*) from sold where show_no between 1 and 100000 for update;
