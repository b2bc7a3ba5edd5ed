"""What a seat of Cat Te cannot see: how cards are dealt, and how worlds and their pasts are sampled."""
