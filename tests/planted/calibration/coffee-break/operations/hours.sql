-- Eight more.
update people set hours = hours + 8 where person = ${person}
