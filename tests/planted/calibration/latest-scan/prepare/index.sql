create index messages_by_host on messages (host_no, message_no);
analyze messages;
