"""Files, cores and memory, and Ray clusters: what runs, data sets and arenas need of a computer."""
