module packyard.test/tools/metrics-server

go 1.26

require sigs.k8s.io/metrics-server v0.8.0
