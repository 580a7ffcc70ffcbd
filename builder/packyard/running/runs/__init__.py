"""Meeting a cluster, by kubectl alone: what runs there of a package, what it lacks, and how it is changed."""
