delete from waiting where id <= 499000;
