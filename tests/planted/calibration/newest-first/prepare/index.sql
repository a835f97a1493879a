create index articles_author_printed on articles (author, printed desc);
