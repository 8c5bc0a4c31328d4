"""The simulated items, one module per paper: what draws an item, its numbers and its film stand together."""
