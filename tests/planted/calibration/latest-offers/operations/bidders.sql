-- Who bid how often?
select count(distinct bidder) as bidders, count(*) as counted from tender_offers where offer < 1500
