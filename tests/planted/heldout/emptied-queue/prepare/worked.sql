delete from waiting where id <= 119000;
