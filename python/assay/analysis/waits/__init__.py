"""What sleeping threads wait for: rules, and how sampled states become time by cause."""
