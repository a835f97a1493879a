-- Each payment is safe before the next one is made.
do $$
begin
  for payment in 1..${payments} loop
    update accounts set balance = balance + 1 where id = payment;
    commit;
  end loop;
end
$$
