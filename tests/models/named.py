"""What packages name of the programs that they start: read out of what they ship, so that no test has it once more.

Of llm-serving these are arguments, variables, paths and metrics of vLLM, in manifests, options, programs, dashboards
and rules; of llm-finetune what its program gives to the classes of TRL. Each has the file that names it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache

import yaml

from catalogue.pods import as_pods
from catalogue.usecases import CATALOGUE, PACKAGES, Object, composed_package, shipped
from workload import environment

_ARGUMENT = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_COMMENT = re.compile(r"(^|\s)#.*")
_METRIC = re.compile(r"\bvllm:[a-z0-9_]+|(?<=name: )vllm_[a-z0-9_]+")
_SERIES = re.compile(r"_(bucket|sum|count)$")
_VARIABLE = re.compile(r"\bVLLM_[A-Z0-9_]+")
_PATH = re.compile(r"(?<=:8000)/[\w/.-]+|(?<![\w.])/v1(?:/[a-z_]+)+|(?<=[A-Z}])/v1(?:/[a-z_]+)+")


@cache
def texts(package: str) -> Mapping[str, str]:
    """Return the files that users get below a package's prefix."""
    (item,) = [each for each in PACKAGES if each.name == package]
    return {path: data.decode() for path, data in composed_package(item).files.items()}


def find(pattern: re.Pattern[str], package: str = "llm-serving") -> dict[str, str]:
    """Return all texts of a pattern, each with a file that has it."""
    return {match[0]: path for path, text in texts(package).items() for match in pattern.finditer(text)}


@cache
def servers() -> Mapping[str, Object]:
    """Return the containers that start vLLM, in manifests as they are shipped."""
    (item,) = [package for package in PACKAGES if package.name == "llm-serving"]
    return {
        f"{use_case.path}, {where}": container
        for use_case in item.use_cases
        for where, pod in as_pods(shipped(item, use_case).parse())
        for container in pod["spec"]["containers"]
        if _arguments(container)
    }


def command_lines() -> Iterator[list[str]]:
    """Yield the words of servers as they are shipped, with their values."""
    (item,) = [package for package in PACKAGES if package.name == "llm-serving"]
    for use_case in item.use_cases:
        objects = shipped(item, use_case).parse()
        for _, pod in as_pods(objects):
            for container in pod["spec"]["containers"]:
                if container.get("command", [])[:2] == ["vllm", "serve"]:
                    described = {**pod, "metadata": {"name": "pod", "labels": {}}}
                    yield environment.words(container, environment.environment(container, described, objects))


def arguments() -> dict[str, str]:
    """Return the names of vLLM's arguments: those of servers, and all that options bring."""
    found = {name: where for where, each in servers().items() for name in _ARGUMENT.findall(_arguments(each))}
    for path, text in texts("llm-serving").items():
        if path.startswith("options/from-"):  # the arguments there are those of rclone and oras
            continue
        if path.startswith("options/") and path.endswith(".yaml"):
            lines = (_COMMENT.sub("", line) for line in text.splitlines())
            found |= {name: path for line in lines for name in _ARGUMENT.findall(line)}
    return found


def _arguments(container: Object) -> str:
    """Return what stands behind `vllm serve`, also in a shell's text."""
    return " ".join([*container.get("command", ()), *container.get("args", ())]).partition("vllm serve")[2]


def paths() -> dict[str, str]:
    """Return the paths of a server: those that its probes ask for, and programs, routes, monitors and pages name."""
    probes = ("startupProbe", "readinessProbe", "livenessProbe")
    found = find(_PATH)
    for where, container in servers().items():
        asked = [container[name]["httpGet"] for name in probes if "httpGet" in container.get(name, {})]
        found |= {each["path"]: where for each in asked}
    return found


def metrics() -> dict[str, str]:
    return {_SERIES.sub("", name.replace("vllm_", "vllm:", 1)): where for name, where in find(_METRIC).items()}


def variables() -> dict[str, str]:
    return find(_VARIABLE)


def keywords() -> Iterator[tuple[str, str]]:
    """Yield what the program of llm-finetune gives to TRL: to a Trainer, or to its Config and that of its model."""
    folder = CATALOGUE.root_dir / "overlays/programs/finetune"
    program = ast.parse((folder / "train.py").read_bytes())
    for node in ast.walk(program):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "TRAINER":
            yield from (("Trainer", word.arg) for word in node.keywords if word.arg)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "follows":
            assert isinstance(node.value, ast.Dict)
            yield from (("Config", key.value) for key in node.value.keys if isinstance(key, ast.Constant))
    yield from (("Config", name) for name in yaml.safe_load((folder / "arguments.yaml").read_text()))
