"""What people compute: jobs ready to be run."""
