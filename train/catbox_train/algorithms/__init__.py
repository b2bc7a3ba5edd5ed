"""The learning algorithms, one folder each."""
