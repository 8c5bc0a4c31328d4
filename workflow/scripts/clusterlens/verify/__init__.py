"""Published numbers and claims against ours."""
