-- Who walked last?
select walked, metres from kennel_walks where kennel = ${kennel} order by walked desc limit 2
