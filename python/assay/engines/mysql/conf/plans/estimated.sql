explain format=json
