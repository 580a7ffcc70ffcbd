"""Objects as YAML, with all that a pod may need, and reading them."""

from __future__ import annotations

import textwrap
from typing import Any

import yaml

MPI_JOB = """
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: bert, namespace: ml}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          serviceAccountName: bert
          containers: [{name: mpi, image: "model-zoo:2.7.0"}]
    Worker:
      template:
        spec:
          imagePullSecrets: [{name: registry}]
          initContainers: [{name: wait, image: "busybox:1.36"}]
          containers:
          - name: worker
            image: "model-zoo:2.7.0"
            resources: {limits: {cpu: 4, nvidia.com/gpu: 1}}
            env:
            - {name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: t}}}
            - {name: MAYBE, valueFrom: {secretKeyRef: {name: maybe, key: t, optional: true}}}
            envFrom: [{configMapRef: {name: env}}]
          volumes:
          - {name: output, nfs: {server: "", path: /export}}
          - {name: data, persistentVolumeClaim: {claimName: ""}}
          - {name: own, persistentVolumeClaim: {claimName: scratch}}
          - {name: settings, configMap: {name: brought}}
          - {name: all, projected: {sources: [{secret: {name: projected}}, {configMap: {name: kube-root-ca.crt}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: brought}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch}
"""

WORKFLOW = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: pipeline}
spec:
  serviceAccountName: runner
  imagePullSecrets: [{name: registry}]
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: shared}}]
  templates:
  - {name: all, steps: [[{name: one, template: train}]]}
  - name: train
    serviceAccountName: trainer
    initContainers: [{name: prepare, image: "init:1"}]
    container: {image: "main:1", envFrom: [{configMapRef: {name: env}}]}
    sidecars: [{name: beside, image: "side:1"}]
    volumes: [{name: own, nfs: {server: nfs, path: /a}}]
  - name: say
    script: {image: "script:1", source: echo}
  - name: group
    containerSet: {containers: [{name: a, image: "set:1"}]}
"""

HARDENED = """
kind: Pod
spec:
  securityContext: {runAsNonRoot: true, runAsUser: "", seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: c
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: ""}}, {name: tmp, emptyDir: {}}]
"""


def objects(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(textwrap.dedent(text)))
