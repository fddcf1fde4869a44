"""Engines of real workers: local processes and Ray, with the roster and the codec that they share."""
