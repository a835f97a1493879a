"""Parts that several commands use: options, help, printed output and progress."""
