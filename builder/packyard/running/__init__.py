"""Runs on a cluster."""
