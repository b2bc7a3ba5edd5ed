"""How a position is shown: text, events and pictures, from one view."""
