-- A carton of eggs.
insert into egg_weights (hen, grams) values (${hen} + 0, 50);
insert into egg_weights (hen, grams) values (${hen} + 1, 51);
insert into egg_weights (hen, grams) values (${hen} + 2, 52);
insert into egg_weights (hen, grams) values (${hen} + 3, 53);
insert into egg_weights (hen, grams) values (${hen} + 4, 54);
insert into egg_weights (hen, grams) values (${hen} + 5, 55);
insert into egg_weights (hen, grams) values (${hen} + 6, 56);
insert into egg_weights (hen, grams) values (${hen} + 7, 57);
insert into egg_weights (hen, grams) values (${hen} + 8, 58);
insert into egg_weights (hen, grams) values (${hen} + 9, 59);
insert into egg_weights (hen, grams) values (${hen} + 10, 60);
insert into egg_weights (hen, grams) values (${hen} + 11, 61)
