select @@global.pid_file, @@global.hostname, @@global.datadir
