-- Dead rows go, and so do the pages that held nothing else; the second says which pages all may see.
vacuum (full) $table;
vacuum (freeze, analyze) $table;
