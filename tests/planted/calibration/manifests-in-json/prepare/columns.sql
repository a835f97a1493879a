alter table crates add column harbour text generated always as (manifest::json ->> 'harbour') stored,
 add column grams int generated always as ((manifest::json ->> 'grams')::int) stored;
analyze crates;
