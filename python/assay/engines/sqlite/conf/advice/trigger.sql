drop trigger $trigger;
