"""Capturing functions: `whit.engine.jit`."""
