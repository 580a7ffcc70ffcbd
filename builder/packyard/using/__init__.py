"""What a user does with an untarred package: set, enable, render, upgrade."""
