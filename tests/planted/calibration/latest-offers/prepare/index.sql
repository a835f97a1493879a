create index tender_offers_latest on tender_offers (region, handed_in);
