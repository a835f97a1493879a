show session
