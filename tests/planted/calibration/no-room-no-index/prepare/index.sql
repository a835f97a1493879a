create index helpdesk_caller on helpdesk (caller);
analyze helpdesk;
