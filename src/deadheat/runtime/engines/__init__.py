"""Engines: where the workers are."""
