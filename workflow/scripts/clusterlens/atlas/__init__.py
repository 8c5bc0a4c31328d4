"""The atlas: all results as a static site that opens from the file system."""
