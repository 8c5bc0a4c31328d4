"""The training loop, the tasks that it trains, and checkpoints."""
