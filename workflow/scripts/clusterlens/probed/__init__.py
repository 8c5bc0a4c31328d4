"""The items on pretrained models: one module for each, `<paper>_<item>`, and the register of what they read."""
