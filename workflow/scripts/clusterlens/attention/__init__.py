"""Parameter-free attention: the patterns, the scaling modes and the iteration."""
