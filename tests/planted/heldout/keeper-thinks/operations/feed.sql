-- A bird was fed.
update aviary_birds set grams = grams + 5 where bird = ${bird}
