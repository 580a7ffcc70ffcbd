"""The command line: words to library calls, results to stdout, the story to stderr.

The only room that prints, and that reads the clock, the environment and the working directory.
"""
