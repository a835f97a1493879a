-- Requests to the web server since it was started.
select sys_stat ('tws_requests')
