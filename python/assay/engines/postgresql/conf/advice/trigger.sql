alter table $table disable trigger $trigger;
