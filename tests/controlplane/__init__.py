"""A real Kubernetes control plane on this machine, without containers: the judge of what users will apply.

``shared`` lets all processes of one test run use one service; ``service`` starts the programs; ``api`` speaks to them.
"""
