"""The workflow as a user calls it."""

from fixtures import checkout, fake_keys, make_checkout, snakemake

__all__ = ["checkout", "fake_keys", "make_checkout", "snakemake"]
