-- Who wrote most, and last?
select sender, count(*) as letters, max(postmark) as latest, min(id) as earliest from stamp_letters group by sender order by letters desc, latest desc, sender limit 5 offset 200000
