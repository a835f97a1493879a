analyze table $table persistent for columns ($columns) indexes ();
