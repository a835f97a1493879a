select generic_plans, custom_plans from pg_prepared_statements where name = $1
