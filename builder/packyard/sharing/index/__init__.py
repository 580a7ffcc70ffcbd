"""What a channel says that it holds: one file that is swapped, over shards and records that never change."""
