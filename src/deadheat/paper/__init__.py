"""The paper again: its experiments, as they were printed."""
