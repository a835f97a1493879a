-- Another one comes.
insert into surgery_list (ward, patient) values (${ward}, 'somebody who waits for a bed in this ward')
