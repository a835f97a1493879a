-- Everything that was loaded is in the tables' files, and no later checkpoint has to write it.
checkpoint
