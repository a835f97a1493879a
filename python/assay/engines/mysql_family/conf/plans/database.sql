select database()
