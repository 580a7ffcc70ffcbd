"""Copying the results of a run: by a pod that mounts what holds them, for as long as the copying takes."""
