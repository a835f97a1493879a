create index songs_title_nocase on songs (title collate nocase);
