"""What every game shares: this package knows no game."""
