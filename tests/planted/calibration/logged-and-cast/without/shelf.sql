-- Where is it?
select floor from shelves where shelf_no = cast(${shelf} as integer)
