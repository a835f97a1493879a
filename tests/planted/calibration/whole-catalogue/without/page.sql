-- What is shown.
select book, max(title) as title, count(*) over () as counted from books where book between ${book} and ${book} + 4000 group by book limit 50
