"""The page of a channel: static files, built from the folder ``web/`` of the sources by ``make web``."""
