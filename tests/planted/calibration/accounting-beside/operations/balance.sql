-- What does this customer have?
select cents from ledgers where id = ${ledger}
