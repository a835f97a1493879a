-- One more vote.
update votes set counted = counted + 1 where candidate = ${candidate}
