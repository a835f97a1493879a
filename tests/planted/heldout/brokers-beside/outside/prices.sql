select sum(sqrt(seq * 1.5)) from seq_1_to_400000;
