"""Data: sources, verification and canonical formats."""
