-- How heavy is a depot?
select sum(weight), max(weight) from boxes where depot = ${depot}
