-- Another one comes.
insert into queue (belt) values (${belt})
