update club set credit = credit + 5 where member between 1 and 400;
update club set credit = credit + 5 where member between 100000 and 100600;
