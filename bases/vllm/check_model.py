"""Waits until a whole model is on the storage, and says what would stop vLLM after it loaded for minutes.

Reads MODEL_PATH, MAX_MODEL_LEN, GPUS, NODES, TENSOR_PARALLEL_SIZE, GPU_MEMORY, GPU_MEMORY_UTILIZATION, and ADAPTER_PATH
and MAX_LORA_RANK where an adapter is served; its words are vLLM's arguments. It refuses only what cannot work: what it
does not know passes, and where an argument changes how much memory a model takes it warns. What vLLM itself says before
it loads, such as a context that the model does not know or heads that GPUs cannot share, is left to it. It links the
kernels that FlashInfer has in the image to FLASHINFER_CUBIN_DIR, as it writes beside them and the image is read-only.
"""

import importlib.util
import json
import os
import signal
import stat
import sys
import time
from pathlib import Path

ADVICE = "copy it there, as the use case staging does, or set MODEL_PATH or ADAPTER_PATH"
INDEX = "model.safetensors.index.json"
LONGEST_HEADER = 100_000_000  # bytes, as safetensors itself has it
UNITS = {"Mi": 2**20, "Gi": 2**30}
FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes on the storage; vLLM computes with two
CHANGING = {
    *("--quantization", "-q", "--kv-cache-dtype", "--cpu-offload-gb", "--dtype", "--hf-overrides", "--load-format"),
    *("--enable-expert-parallel", "--data-parallel-size"),
}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    model, adapter, said = Path(os.environ["MODEL_PATH"]), os.environ.get("ADAPTER_PATH", ""), ""
    while problem := find_missing(model, adapter):
        if problem != said:
            print(f"waiting: {problem}", flush=True)
        said = problem
        time.sleep(float(os.environ.get("CHECK_SECONDS", "10")))
    words = {word.partition("=")[0] for word in sys.argv[1:]}
    problems, memory = list(find_code_problems(model, words)), list(find_memory_problems(model))
    if adapter:
        problems += find_adapter_problems(Path(adapter))
    if changing := sorted(CHANGING & words):
        print("".join(f"warning: {each}, unless {', '.join(changing)} changes that\n" for each in memory), end="")
    else:
        problems += memory
    if problems:
        sys.exit("\n".join(f"{model}: {each}" for each in problems))
    link_kernels()
    print(f"{model} is complete")


def link_kernels():
    package, target = importlib.util.find_spec("flashinfer_cubin"), os.environ.get("FLASHINFER_CUBIN_DIR")
    if package and target:
        kernels = Path(package.origin).parent / "cubins"
        for path in kernels.rglob("*"):
            link = Path(target, path.relative_to(kernels))
            if path.is_dir():
                link.mkdir(parents=True, exist_ok=True)
            elif not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)


def find_missing(model, adapter):
    """Say what is not there, not whole or cannot be read; nothing if all is."""
    try:
        return find_lacking(model, adapter)
    except PermissionError as error:
        path = Path(error.filename)
        closed = next((each for each in [*reversed(path.parents), path] if not may_read(each)), path)
        about = closed.stat()
        return (
            f"USER_ID {os.getuid()}, GROUP_ID {os.getgid()} and FS_ID may not read {closed}"
            f" ({stat.filemode(about.st_mode)} {about.st_uid}:{about.st_gid})"
        )
    except OSError as error:  # such as EIO and ESTALE
        return f"{error.filename}: {error.strerror}: the storage failed"


def may_read(path):
    return os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK)


def find_lacking(model, adapter):
    weights = find_weights(model) or [model / "model.safetensors"]
    mistral = is_file(model / "params.json") and not is_file(model / "config.json")  # its own layout
    files = [model / ("params.json" if mistral else "config.json"), *model.glob(INDEX), *weights]
    if adapter:
        files += [Path(adapter, "adapter_config.json"), Path(adapter, "adapter_model.safetensors")]
    for file in files:
        if not is_file(file):
            return f"{file} is not there: {tell_left_out(model) or ADVICE}"
        if file.suffix == ".json" and not read(file):
            return f"{file} cannot be read: it was not copied whole, copy it again"
        if file.suffix == ".safetensors" and (size := file.stat().st_size) != (whole := read_size(file)):
            return f"{file} has {size} bytes, and its header says {whole}: it was not copied whole, copy it again"
    return ""


def tell_left_out(model):
    """Say which files staging did not copy, where it noted some."""
    left = read(model / ".staged").get("left")
    return left and f"staging left out {', '.join(left[:3])}, as its STAGE_IGNORE says: stage a model with .safetensors"


def find_weights(model):
    index = model / INDEX
    if is_file(index):
        return [model / name for name in sorted(set(read(index).get("weight_map", {}).values()))]
    return sorted(model.glob("*.safetensors"))


def is_file(path):
    """Say whether there is a file; unlike Path.is_file, all Pythons raise what stops who looks."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def read(file):
    """Return what a JSON file says, nothing where that is no mapping."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, FileNotFoundError):
        return {}
    return found if isinstance(found, dict) else {}


def read_size(file):
    """Return the length that the header of a safetensors file says."""
    try:
        length, tensors = read_header(file)
        return 8 + length + max((end for _, _, end in tensors), default=0)
    except (ValueError, LookupError, TypeError, AttributeError):
        return "nothing that can be read"


def read_header(file):
    """Return the length of the header of a safetensors file, and of each tensor its type, start and end."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if not 2 <= length <= LONGEST_HEADER:
            raise ValueError(length)
        header = json.loads(opened.read(length))
    tensors = [tensor for name, tensor in header.items() if name != "__metadata__"]
    return length, [(tensor["dtype"], *tensor["data_offsets"]) for tensor in tensors]


def weigh(file):
    """Return the memory of a file's tensors: numbers with a point take two bytes each, quantized ones as stored."""
    tensors = read_header(file)[1]
    return sum((end - start) * 2 // FLOATS[kind] if kind in FLOATS else end - start for kind, start, end in tensors)


def find_memory_problems(model):
    """Yield what the GPUs have too little memory for; nothing is known where there are none."""
    longest, parallel = int(os.environ["MAX_MODEL_LEN"]), int(os.environ["TENSOR_PARALLEL_SIZE"])
    gpus, card = int(os.environ["GPUS"]) * int(os.environ.get("NODES", "1")), os.environ["GPU_MEMORY"]
    room = gpus * float(card[:-2]) * UNITS[card[-2:]] * float(os.environ["GPU_MEMORY_UTILIZATION"])
    weights = sum(weigh(file) for file in find_weights(model))
    config = read(model / "config.json")
    context = longest * count_bytes(config.get("text_config") or config, parallel)
    if gpus and weights + context > room:
        parts = f"the weights take {show(weights)}, a request of MAX_MODEL_LEN {longest} {show(context)}"
        less = "lower MAX_MODEL_LEN, or " if weights < room else ""
        yield f"{parts}, and {gpus} GPUs of {card} have {show(room)}: {less}raise GPUS or GPU_MEMORY"


def find_code_problems(model, words):
    """Yield the model's own programs that are not there, where vLLM is told to run them."""
    named = read(model / "config.json").get("auto_map") or {}
    if "--trust-remote-code" in words:
        for name in sorted({str(each).rpartition("--")[2].partition(".")[0] for each in named.values()}):
            if not (model / f"{name}.py").is_file():
                yield f"{name}.py is not there: stage the model with the option trust-remote-code"


def find_adapter_problems(adapter):
    rank, highest = read(adapter / "adapter_config.json").get("r"), int(os.environ["MAX_LORA_RANK"])
    if isinstance(rank, int) and rank > highest:
        yield f"the rank of the adapter {adapter} is {rank}, and MAX_LORA_RANK is {highest}: set it to {rank} or more"


def show(size):
    return f"{size / 2**30:.1f}Gi"


def count_bytes(config, parallel):
    """Return the memory of one token in a request, over all GPUs; 0 where layers are not all alike."""
    heads, layers = config.get("num_attention_heads"), config.get("num_hidden_layers")
    slides = config.get("sliding_window") and config.get("use_sliding_window", True)
    kinds = {*(config.get("layer_types") or ()), *(config.get("layers_block_type") or ())} - {"full_attention"}
    if not heads or not layers or slides or kinds or config.get("kv_lora_rank"):
        return 0
    shared = config.get("num_key_value_heads") or heads
    size = config.get("head_dim") or config.get("hidden_size", 0) // heads
    quantized = (config.get("quantization_config") or {}).get("kv_cache_scheme")
    return 2 * (1 if quantized else 2) * layers * max(shared, parallel) * size  # keys and values


if __name__ == "__main__":
    main()
