create index sections_chapter on sections (chapter)
