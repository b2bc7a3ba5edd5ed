"""What a seat of Cat in the Box cannot see: how cards are dealt, and how worlds and their pasts are sampled."""
