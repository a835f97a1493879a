-- What came in last?
select offer, bidder, handed_in from tender_offers where region = ${region} order by handed_in desc limit 5
