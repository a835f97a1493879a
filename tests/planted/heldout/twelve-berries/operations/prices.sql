-- What do these cost?
select cents from berry_punnets where punnet = ${punnet} + 0;
select cents from berry_punnets where punnet = ${punnet} + 1;
select cents from berry_punnets where punnet = ${punnet} + 2;
select cents from berry_punnets where punnet = ${punnet} + 3;
select cents from berry_punnets where punnet = ${punnet} + 4;
select cents from berry_punnets where punnet = ${punnet} + 5;
select cents from berry_punnets where punnet = ${punnet} + 6;
select cents from berry_punnets where punnet = ${punnet} + 7;
select cents from berry_punnets where punnet = ${punnet} + 8;
select cents from berry_punnets where punnet = ${punnet} + 9;
select cents from berry_punnets where punnet = ${punnet} + 10;
select cents from berry_punnets where punnet = ${punnet} + 11
