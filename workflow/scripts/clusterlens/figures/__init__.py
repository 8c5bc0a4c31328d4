"""Functions from a DataFrame to a matplotlib Figure; nothing here imports torch."""
