-- Whose card is this?
select id, address from readers where card = md5('777')
