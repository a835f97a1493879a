-- Who lies there?
select boat, nights from berths where berth = ${berth}
