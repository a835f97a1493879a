"""Charts and tables of loads: transactions, query sequences, TPC-H tests and crashes."""
