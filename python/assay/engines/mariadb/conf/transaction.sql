select @@in_transaction
