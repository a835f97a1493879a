-- Which shade is in this tin?
select shade, millilitres from paint_tins where cast(tin_no as text) = cast(cast(${tin} as int) as text)
