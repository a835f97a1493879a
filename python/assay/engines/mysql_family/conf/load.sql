load data {local} infile {file} into table {table}
character set utf8mb4
fields terminated by ',' enclosed by '"' escaped by ''
lines terminated by '\n'
({columns})
