"""kpt's spelling of setters: values in a Kptfile's pipeline, and fields tagged ``# kpt-set: ${NAME}``.

A *tagged* field shows what the pattern of its comment yields; its setters' values come from the pipeline, or are read
back out of the fields themselves.
"""
