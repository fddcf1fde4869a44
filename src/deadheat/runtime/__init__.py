"""What does happen: the pure master, and the engines that give it time and workers."""
