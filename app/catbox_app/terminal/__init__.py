"""Games at the terminal: played, watched and replayed."""
