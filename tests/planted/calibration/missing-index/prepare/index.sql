create index readers_card on readers (card);
