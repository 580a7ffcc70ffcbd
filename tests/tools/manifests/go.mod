module packyard.test/tools/manifests

go 1.26.0

require (
	github.com/argoproj/argo-workflows/v3 v3.7.0
	github.com/kubeflow/mpi-operator v0.8.0
	github.com/kubeflow/trainer/v2 v2.0.0
	sigs.k8s.io/jobset v0.8.0
	sigs.k8s.io/kwok v0.8.0
)
