-- What was sold around then?
select branch, sum(cents) as cents from receipts where receipt between ${receipt} and ${receipt} + 500 group by branch
