-- Everything from here.
select * from books where book between ${book} and ${book} + 4000
