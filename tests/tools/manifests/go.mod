module packyard.test/tools/manifests

go 1.26.0

require (
	github.com/argoproj/argo-workflows/v3 v3.7.0
	github.com/kedacore/keda/v2 v2.18.0
	github.com/kubeflow/mpi-operator v0.8.0
	github.com/kubeflow/trainer/v2 v2.1.0
	github.com/kubeflow/training-operator v1.9.3
	github.com/prometheus-operator/prometheus-operator v0.85.0
	github.com/sigstore/cosign/v3 v3.1.3
	sigs.k8s.io/gateway-api v1.4.0
	sigs.k8s.io/gateway-api-inference-extension v1.1.0
	sigs.k8s.io/jobset v0.10.1
	sigs.k8s.io/kueue v0.15.2
	sigs.k8s.io/kwok v0.8.0
	sigs.k8s.io/lws v0.7.0
)

// Kueue's module asks for later ones.
replace (
	github.com/kubeflow/trainer/v2 => github.com/kubeflow/trainer/v2 v2.0.0
	sigs.k8s.io/jobset => sigs.k8s.io/jobset v0.8.0
)
