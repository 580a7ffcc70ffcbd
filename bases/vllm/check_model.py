"""Waits until a whole model is on the storage, and says what would stop vLLM before it loads for minutes.

Reads MODEL_PATH, MAX_MODEL_LEN, GPUS, NODES, TENSOR_PARALLEL_SIZE, GPU_MEMORY, GPU_MEMORY_UTILIZATION, and ADAPTER_PATH
and MAX_LORA_RANK where an adapter is served. Passes what it does not know: it refuses only what cannot work.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

ADVICE = "copy it there, as the use case staging does, or set MODEL_PATH or ADAPTER_PATH"
INDEX = "model.safetensors.index.json"
LONGEST_HEADER = 100_000_000  # bytes, as safetensors itself has it


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    model, adapter, said = Path(os.environ["MODEL_PATH"]), os.environ.get("ADAPTER_PATH", ""), ""
    while problem := find_missing(model, adapter):
        if problem != said:
            print(f"waiting: {problem}", flush=True)
        said = problem
        time.sleep(float(os.environ.get("CHECK_SECONDS", "10")))
    problems = list(find_problems(model))
    if adapter:
        problems += find_adapter_problems(Path(adapter))
    for problem in problems:
        print(f"{model}: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{model} is complete")


def find_missing(model, adapter):
    """Say what is not there, or not whole; nothing if all is."""
    weights = find_weights(model) or [model / "model.safetensors"]
    files = [model / "config.json", *model.glob(INDEX), *weights]
    if adapter:
        files += [Path(adapter, "adapter_config.json"), Path(adapter, "adapter_model.safetensors")]
    for file in files:
        if not file.is_file():
            return f"{file} is not there: {ADVICE}"
        if file.suffix == ".json" and not read(file):
            return f"{file} cannot be read: it was not copied whole, copy it again"
        if file.suffix == ".safetensors" and (size := file.stat().st_size) != (whole := read_size(file)):
            return f"{file} has {size} bytes, and its header says {whole}: it was not copied whole, copy it again"
    return ""


def find_weights(model):
    index = model / INDEX
    if index.is_file():
        return [model / name for name in sorted(set(read(index).get("weight_map", {}).values()))]
    return sorted(model.glob("*.safetensors"))


def read(file):
    """Return what a JSON file says, nothing where that is no mapping."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def read_size(file):
    """Return the length that the header of a safetensors file says."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if not 2 <= length <= LONGEST_HEADER:
            return "nothing that can be read"
        try:
            header = json.loads(opened.read(length))
            ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        except (ValueError, LookupError, TypeError, AttributeError):
            return "nothing that can be read"
    return 8 + length + max(ends, default=0)


def find_problems(model):
    """Yield what the values of the run ask of the model, or of the GPUs, that these do not have."""
    whole = read(model / "config.json")
    config = whole.get("text_config") or whole
    longest, parallel = int(os.environ["MAX_MODEL_LEN"]), int(os.environ["TENSOR_PARALLEL_SIZE"])
    limit = find_limit(config)
    if limit and longest > limit:
        yield f"MAX_MODEL_LEN is {longest}, and the model knows contexts of {limit} tokens: set it to {limit} or less"
    heads = config.get("num_attention_heads")
    if heads and heads % parallel:
        fits = ", ".join(str(each) for each in range(1, 17) if heads % each == 0)
        yield f"{parallel} GPUs cannot share {heads} attention heads: split the model over {fits}"
    gpus = int(os.environ["GPUS"]) * int(os.environ.get("NODES", "1"))
    each = int(os.environ["GPU_MEMORY"].removesuffix("Gi"))
    room = gpus * each * 2**30 * float(os.environ["GPU_MEMORY_UTILIZATION"])
    weights = sum(file.stat().st_size for file in find_weights(model))
    context = longest * count_bytes(config, parallel)
    if weights + context > room:
        parts = f"the weights take {show(weights)}, a request of MAX_MODEL_LEN {longest} {show(context)}"
        less = "lower MAX_MODEL_LEN, or " if weights < room else ""
        yield f"{parts}, and {gpus} GPUs of {each}Gi have {show(room)}: {less}raise GPUS or GPU_MEMORY"


def find_adapter_problems(adapter):
    rank, highest = read(adapter / "adapter_config.json").get("r"), int(os.environ["MAX_LORA_RANK"])
    if isinstance(rank, int) and rank > highest:
        yield f"the rank of the adapter {adapter} is {rank}, and MAX_LORA_RANK is {highest}: set it to {rank} or more"


def show(size):
    return f"{size / 2**30:.1f}Gi"


def find_limit(config):
    """Return how many tokens a model can attend to, 0 where it does not say."""
    known = config.get("max_position_embeddings") or 0
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    factor = scaling.get("factor") or 1
    return int(max(known, known * factor, factor * (scaling.get("original_max_position_embeddings") or 0)))


def count_bytes(config, parallel):
    """Return the memory of one token in a request, over all GPUs; 0 where layers are not all alike."""
    heads, layers = config.get("num_attention_heads"), config.get("num_hidden_layers")
    slides = config.get("sliding_window") and config.get("use_sliding_window", True)
    kinds = {*(config.get("layer_types") or ()), *(config.get("layers_block_type") or ())} - {"full_attention"}
    if not heads or not layers or slides or kinds or config.get("kv_lora_rank"):
        return 0
    shared = config.get("num_key_value_heads") or heads
    size = config.get("head_dim") or config.get("hidden_size", 0) // heads
    return 2 * 2 * layers * max(shared, parallel) * size  # keys and values, of two bytes each


if __name__ == "__main__":
    main()
