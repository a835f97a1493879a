"""Plans several runs that answer one question (a study), and executes them."""
