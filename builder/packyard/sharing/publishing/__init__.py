"""What changes a channel, and what checks the whole of one."""
