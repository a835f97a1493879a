-- Twelve rows, one by one.
insert into positions values (${ship}, 0, 0.5, 0.25);
insert into positions values (${ship}, 1, 1.5, 1.25);
insert into positions values (${ship}, 2, 2.5, 2.25);
insert into positions values (${ship}, 3, 3.5, 3.25);
insert into positions values (${ship}, 4, 4.5, 4.25);
insert into positions values (${ship}, 5, 5.5, 5.25);
insert into positions values (${ship}, 6, 6.5, 6.25);
insert into positions values (${ship}, 7, 7.5, 7.25);
insert into positions values (${ship}, 8, 8.5, 8.25);
insert into positions values (${ship}, 9, 9.5, 9.25);
insert into positions values (${ship}, 10, 10.5, 10.25);
insert into positions values (${ship}, 11, 11.5, 11.25);
