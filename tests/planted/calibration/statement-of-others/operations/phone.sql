-- Whose is it?
select owner, contract from phones where phone = ${phone}
