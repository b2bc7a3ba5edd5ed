"""The learning algorithms, a folder each."""
