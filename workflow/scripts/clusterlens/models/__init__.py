"""The image models of S, their neurons and the registry that builds them; the small Longformer of A."""
