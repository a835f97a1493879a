alter table $table disable trigger $existing;
