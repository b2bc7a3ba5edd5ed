"""Code shared by all games; nothing here depends on a particular game."""
