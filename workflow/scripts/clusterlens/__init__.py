"""clusterlens: the science behind the workflow, importable and testable without Snakemake."""
