"""What an author does: sources, checks, builds."""
