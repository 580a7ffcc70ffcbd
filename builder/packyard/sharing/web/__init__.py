"""The page of a channel: static HTML that `packyard web` writes from what the channel lists and its bundles say."""
