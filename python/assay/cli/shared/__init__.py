"""What the commands share: their options, their help, what they print, how they show progress."""
