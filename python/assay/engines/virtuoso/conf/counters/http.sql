-- What threads of the web server did since the server was started; 2: do not begin anew. Other connections tell of
-- themselves only.
select db_activity(2, 'http') as line
