"""What a cluster is given: the objects of a use case, built by a program that is here or by our own build.

The only room that starts kustomize or kubectl. It reads no environment: where programs are looked for is an argument.
"""
