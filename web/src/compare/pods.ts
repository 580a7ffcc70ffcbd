// Where pods stand in objects, so that lists inside of them are told apart by their keys whatever kind holds the pod.
// The table is that of packyard's core/kubernetes/pods.py.

import { entry, find, nameOf, text, type Mapping, type Node } from "../model/node";

const TEMPLATE = ["spec/template/spec"];
const JOB_SETS = "spec/replicatedJobs/*/template/spec/template/spec";
const RAY = ["headGroupSpec/template/spec", "workerGroupSpecs/*/template/spec"];
const PODS: ReadonlyMap<string, readonly string[]> = new Map([
  [" Pod", ["spec"]],
  [" PodTemplate", ["template/spec"]],
  [" ReplicationController", TEMPLATE],
  ...["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"].map((kind): [string, string[]] => [`apps ${kind}`, TEMPLATE]),
  ["batch Job", TEMPLATE],
  ["batch CronJob", ["spec/jobTemplate/spec/template/spec"]],
  ["kubeflow.org MPIJob", ["spec/mpiReplicaSpecs/*/template/spec"]],
  ["kubeflow.org PyTorchJob", ["spec/pytorchReplicaSpecs/*/template/spec"]],
  ["kubeflow.org TFJob", ["spec/tfReplicaSpecs/*/template/spec"]],
  ["jobset.x-k8s.io JobSet", [JOB_SETS]],
  ["leaderworkerset.x-k8s.io LeaderWorkerSet", ["leader", "worker"].map((role) => `spec/leaderWorkerTemplate/${role}Template/spec`)],
  ...["TrainingRuntime", "ClusterTrainingRuntime"].map((kind): [string, string[]] => [`trainer.kubeflow.org ${kind}`, [`spec/template/${JOB_SETS}`]]),
  ["ray.io RayCluster", RAY.map((group) => `spec/${group}`)],
  ["ray.io RayJob", [...RAY.map((group) => `spec/rayClusterSpec/${group}`), "spec/submitterPodTemplate/spec"]],
  ["ray.io RayService", RAY.map((group) => `spec/rayClusterConfig/${group}`)],
]);
const WORKFLOWS = new Map([
  ...["Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate"].map((kind): [string, string] => [`argoproj.io ${kind}`, "spec"]),
  ["argoproj.io CronWorkflow", "spec/workflowSpec"],
]);
const TEMPLATES = ["templateDefaults", "templates/*", "templates/*/steps/*/*/inline", "templates/*/dag/tasks/*/inline"];
const CUSTOM = "apiextensions.k8s.io CustomResourceDefinition";

/** The mappings that describe pods in an object; `resolve` follows aliases. */
export function findPods(root: Node, resolve: (node: Node) => Node): Mapping[] {
  const node = resolve(root);
  if (node.kind === "sequence") return node.children.flatMap((child) => findPods(child.value, resolve));
  if (node.kind !== "mapping") return [];
  const version = text(node, "apiVersion");
  const kind = `${version.slice(0, Math.max(0, version.lastIndexOf("/")))} ${text(node, "kind")}`;
  if (kind === CUSTOM) return [];
  const known = PODS.get(kind);
  if (known) return known.flatMap((pattern) => follow(node, pattern.split("/"), resolve));
  const workflow = WORKFLOWS.get(kind);
  if (workflow !== undefined) {
    return TEMPLATES.flatMap((pattern) => follow(node, `${workflow}/${pattern}`.split("/"), resolve)).filter(hasContainer);
  }
  const containers = find(node, "containers");
  const own = containers && resolve(containers).kind === "sequence" ? [node] : [];
  return [...own, ...node.children.flatMap((child) => findPods(child.value, resolve))];
}

function hasContainer(template: Mapping): boolean {
  return ["container", "script", "containerSet"].some((name) => entry(template, name) !== undefined);
}

function follow(node: Node, steps: readonly string[], resolve: (node: Node) => Node): Mapping[] {
  const found = resolve(node);
  const [step, ...rest] = steps;
  if (step === undefined) return found.kind === "mapping" ? [found] : [];
  if (found.kind !== "mapping" && found.kind !== "sequence") return [];
  const members = found.children.filter((child) => step === "*" || (found.kind === "mapping" && nameOf(child) === step));
  return members.flatMap((child) => follow(child.value, rest, resolve));
}
