-- What was agreed?
select tariff, terms from contracts where contract_no = cast(${contract} as integer)
