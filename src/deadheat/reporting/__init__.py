"""Seeing it: tables for people, JSON for programs."""
