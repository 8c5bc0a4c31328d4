"""Inside pretrained encoders: loading, capture layer by layer, heads, flows, disabled weights, probed text."""
