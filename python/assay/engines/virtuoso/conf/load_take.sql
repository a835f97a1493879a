v{number} := aref_set_0 (rows, {number});
