"""What a channel says it holds: numbered heads over immutable nodes, read and changed by many at once."""
