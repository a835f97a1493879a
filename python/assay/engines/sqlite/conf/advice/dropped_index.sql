drop index $existing;
