-- What did the visits to this town's clinics cost?
select c.clinic_no, count(*) as counted, sum(v.cents) as cents from clinics c join visits v on v.clinic = c.clinic_no where c.town = 'town 77' group by c.clinic_no order by 1
