-- All nine at once.
select title, minute from trains where train between ${train} and ${train} + 8
