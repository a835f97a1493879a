-- What was changed is in the database file, and no statement that is timed has to write it.
checkpoint
