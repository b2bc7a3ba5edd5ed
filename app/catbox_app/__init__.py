"""What a person sees: the command line, and games at the terminal and in the browser."""
