-- InnoDB then builds an empty table and its indexes as a whole, by sorting, instead of row by row.
set session unique_checks = 0, foreign_key_checks = 0
