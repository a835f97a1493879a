-- One more in this box.
update boxes set counted = counted + 1 where box = ${box}
