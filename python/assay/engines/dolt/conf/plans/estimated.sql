explain plan
