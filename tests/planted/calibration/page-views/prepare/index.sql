create index views_page on views (page);
