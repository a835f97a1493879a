;
commit
