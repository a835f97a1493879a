-- Where is it?
select floor from shelves where shelf_no::text = cast(${shelf} as text)
