-- A recipe, and what its neighbours are called.
select count(*) as near, max(title) as last from recipes where id between ${recipe} and ${recipe} + 18000
