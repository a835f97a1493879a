-- What do these quotes come to?
select count(*) as quotes, sum(premium) as premium from reinsurance_quotes where quote between ${first} and ${first} + 500
