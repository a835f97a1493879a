delete from $table where tbl = $text collate nocase;
