"""What a person sees: the command line and the table at the terminal."""
