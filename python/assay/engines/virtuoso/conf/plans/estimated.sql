select explain(?)
