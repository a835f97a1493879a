-- What threads of the web server did since this was asked before, which begins them anew: the line has four digits, and of
-- a long time they would not show a short one. Other connections tell of themselves only, and none of the web server's
-- while there is a query log.
select db_activity (0, 'http') as line
