-- Where does it stand?
select bay from pallets where code = ${pallet}
