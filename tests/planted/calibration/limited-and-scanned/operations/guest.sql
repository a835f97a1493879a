-- Whose is it?
select guest, drinks from wrist_bands where band = ${band}
