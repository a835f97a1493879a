start transaction
