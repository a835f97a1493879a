-- A card is charged.
update cards set charged = charged + 7 where card = ${card}
