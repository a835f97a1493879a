-- Somebody passes.
update gates set passed = passed + 1 where id = ${gate}
