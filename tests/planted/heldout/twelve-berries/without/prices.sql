-- What do these cost?
select cents from berry_punnets where punnet between ${punnet} and ${punnet} + 11
