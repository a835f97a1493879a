-- What has this shop still to pay?
select count(*) as counted, sum(cents) as cents from invoices where shop = ${shop} and state = 'o'
