"""Host names, and processes that listen on ports."""
