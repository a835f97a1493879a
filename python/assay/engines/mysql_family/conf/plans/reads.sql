show session status like 'Handler_read%'
