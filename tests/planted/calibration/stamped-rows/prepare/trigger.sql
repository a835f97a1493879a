create trigger samples_stamped before insert on samples for each row
set new.rules = (select count(*) from lab_rules where lab_rules.kind = new.kind and bound < 70);
