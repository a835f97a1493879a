-- A pallet was weighed.
update frozen_pallets set kilos = ${kilos} where pallet = ${pallet}
