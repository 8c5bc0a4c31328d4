"""Training loops, schedules, checkpoints and resume."""
