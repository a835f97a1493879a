"""Code that several commands share: options, help, printed output and progress."""
