"""Tokens as particles: vector fields, integrators and whole simulations."""
