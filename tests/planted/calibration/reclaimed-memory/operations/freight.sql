-- What does it weigh?
select grams, note from freights where id = ${freight}
