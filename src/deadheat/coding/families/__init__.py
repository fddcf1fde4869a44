"""Families of codes, one per file: a constructor and its line in the catalogue."""
