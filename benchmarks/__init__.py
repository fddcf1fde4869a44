"""Speed, as ratios against a limit or a peer in the same run: `make bench`."""
