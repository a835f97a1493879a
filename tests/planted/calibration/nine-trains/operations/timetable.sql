-- One train after another.
select title, minute from trains where train = ${train} + 0;
select title, minute from trains where train = ${train} + 1;
select title, minute from trains where train = ${train} + 2;
select title, minute from trains where train = ${train} + 3;
select title, minute from trains where train = ${train} + 4;
select title, minute from trains where train = ${train} + 5;
select title, minute from trains where train = ${train} + 6;
select title, minute from trains where train = ${train} + 7;
select title, minute from trains where train = ${train} + 8;
