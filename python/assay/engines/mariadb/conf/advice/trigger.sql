drop trigger $existing;
