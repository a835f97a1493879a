-- Which shade is in this tin?
select shade, millilitres from paint_tins where tin_no = ${tin}
