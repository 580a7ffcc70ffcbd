"""Tunes a language model on texts: an adapter beside its weights (LoRA), or all of them. torchrun starts it.

MODEL_PATH is as Hugging Face lays it out; the lines of DATASET_DIR/*.jsonl are {"text": ...}. OUTPUT_DIR gets
checkpoints, and a run of the same name goes on from the last; in the end `adapter`, as PEFT lays it out, or `model`.
"""

import datetime
import json
import os
import pathlib
import shutil
import sys

import torch
from torch.nn.parallel import DistributedDataParallel

MODEL_PATH, DATASET_DIR, OUTPUT_DIR = (
    pathlib.Path(os.environ[name]) for name in ("MODEL_PATH", "DATASET_DIR", "OUTPUT_DIR")
)
BATCH_SIZE, TRAIN_EPOCHS, MAX_LENGTH, LORA_RANK, CHECKPOINT_STEPS = (
    int(os.environ[name]) for name in ("BATCH_SIZE", "TRAIN_EPOCHS", "MAX_LENGTH", "LORA_RANK", "CHECKPOINT_STEPS")
)
LEARNING_RATE = float(os.environ["LEARNING_RATE"])
FSDP = os.environ["SHARDING"] == "fsdp"  # each process keeps a part of the weights; else all of them (DDP)
RANK, LOCAL_RANK, PROCESSES, LOCAL_PROCESSES = (
    int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
)
CHECKPOINTS_DIR = OUTPUT_DIR / "checkpoints"
BUCKET = "trainingbucket" in os.environ  # in place of a storage: the paths of the run are below /tmp
if BUCKET:
    import bucket


def is_tiny():
    """Return whether to take the model of tiny.py, which has no weights and trains on CPUs, too."""
    return MODEL_PATH.name == "tiny" and not MODEL_PATH.exists()


def check_gpus():
    """Refuse to share a GPU, or to do without."""
    found = torch.cuda.device_count()
    if found < LOCAL_PROCESSES and not (is_tiny() and found == 0):
        sys.exit(
            f"this pod has {LOCAL_PROCESSES} processes and sees {found} GPUs:"
            " set GPUS to what its node has, and IMAGE to one with CUDA"
        )


def check_model():
    """Refuse weights that are not there, or not whole, as after a copy that ended early; and a context too long."""
    try:
        config = json.loads((MODEL_PATH / "config.json").read_text())
    except OSError:
        sys.exit(f"no weights in {MODEL_PATH}, which has no config.json: copy them there, or set MODEL_PATH")
    except ValueError:
        sys.exit(f"{MODEL_PATH}/config.json is not whole: copy it again")
    text = config.get("text_config", config)
    factor = (text.get("rope_scaling") or {}).get("factor") or 1  # some stretch what they know
    context = int((text.get("max_position_embeddings") or MAX_LENGTH) * factor)
    if context < MAX_LENGTH:
        sys.exit(f"the context of {MODEL_PATH} is {context} tokens: lower MAX_LENGTH from {MAX_LENGTH}")
    index = MODEL_PATH / "model.safetensors.index.json"
    try:
        names = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else {"model.safetensors"}
    except (ValueError, LookupError):
        names = {index.name}
    broken = sorted(name for name in names if not is_whole(MODEL_PATH / name))
    if broken:
        sys.exit(f"{MODEL_PATH}: files that are not there, or not whole: copy {', '.join(broken)} again")


def is_whole(file):
    """Return whether a file of safetensors is as long as its header says: 8 bytes, a header of that length, tensors."""
    try:
        with file.open("rb") as data:
            length = int.from_bytes(data.read(8), "little")
            header = json.loads(data.read(length)) if length < 1 << 30 else {}
        ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return bool(ends) and file.stat().st_size == 8 + length + max(ends)


def load_encoder():
    """Return what makes numbers of a text."""
    if is_tiny():
        import tiny

        return tiny.encode
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(MODEL_PATH)
    return lambda text: tokenizer(text + tokenizer.eos_token)["input_ids"]


def load_model():
    if is_tiny():
        import tiny

        return tiny.Model(LORA_RANK)
    import transformers

    # An adapter is trained beside weights that stay as they are; weights that change need more than 16 bits.
    dtype = torch.bfloat16 if LORA_RANK else torch.float32
    model = transformers.AutoModelForCausalLM.from_pretrained(MODEL_PATH, dtype=dtype)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if not LORA_RANK:
        return model
    import peft

    config = peft.LoraConfig(
        task_type="CAUSAL_LM", r=LORA_RANK, lora_alpha=2 * LORA_RANK, lora_dropout=0.05, target_modules="all-linear"
    )
    return peft.get_peft_model(model, config, autocast_adapter_dtype=not FSDP)


def distribute(model, device):
    """Return the model as all processes train it together."""
    if not FSDP:
        return DistributedDataParallel(model.to(device), [device.index] if device.type == "cuda" else None)
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    options = {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    split = getattr(model, "_no_split_modules", None) or ()
    for layer in [layer for layer in model.modules() if type(layer).__name__ in split]:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def read_blocks(encode):
    """Return the texts, one behind the other, as rows of MAX_LENGTH tokens."""
    tokens = []
    for file in sorted(DATASET_DIR.glob("*.jsonl")):
        for number, line in enumerate(file.read_bytes().splitlines(), 1):
            try:
                tokens += encode(json.loads(line)["text"])
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f'{file}:{number}: each line is {{"text": "..."}}: {error!r}')
    rows = len(tokens) // MAX_LENGTH
    if rows < BATCH_SIZE * PROCESSES:
        sys.exit(
            f"{DATASET_DIR}/*.jsonl are {rows} rows of {MAX_LENGTH} tokens, and a step takes {BATCH_SIZE * PROCESSES}:"
            " bring more texts, set DATASET_DIR, or lower BATCH_SIZE or MAX_LENGTH"
        )
    return torch.tensor(tokens[: rows * MAX_LENGTH]).view(rows, MAX_LENGTH)


def batches(blocks, start):
    """Yield this process's part of each step, in an order that depends on nothing but the epoch."""
    steps = len(blocks) // (BATCH_SIZE * PROCESSES)
    for step in range(start, TRAIN_EPOCHS * steps):
        order = torch.randperm(len(blocks), generator=torch.Generator().manual_seed(step // steps))
        first = (step % steps * PROCESSES + RANK) * BATCH_SIZE
        yield step + 1, TRAIN_EPOCHS * steps, blocks[order[first : first + BATCH_SIZE]]


def trained_weights(model):
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


def part_name():
    """Return the file of a checkpoint that is this process's: with FSDP each has its own, else all have the same."""
    return f"part-{RANK if FSDP else 0}.pt"


def shape():
    """Return what a run has in common with its checkpoints, by the parameters that say so."""
    names = ("LORA_RANK", "SHARDING", "BATCH_SIZE", "MAX_LENGTH")
    return {"WORKERS x GPUS": str(PROCESSES), **{name: os.environ[name] for name in names}}


def find_checkpoint():
    """Return the step of the last checkpoint, and its directory, if there is one; refuse one of another shape."""
    found = [(int(file.parent.name[5:]), file.parent) for file in CHECKPOINTS_DIR.glob("step-*/shape.json")]
    step, folder = max(found, default=(0, None))
    was = json.loads((folder / "shape.json").read_text()) if folder else shape()
    other = [f"{name} {was[name]}, and not {value}" for name, value in shape().items() if was[name] != value]
    if other:
        sys.exit(f"{folder} is of a run with {'; '.join(other)}: set that again, or another RUN_NAME to start over")
    return step, folder


def read_checkpoint(folder, model, optimizer, device):
    state = torch.load(folder / part_name(), map_location=device, weights_only=True)
    with torch.no_grad():
        for name, value in trained_weights(model).items():
            value.copy_(state["model"][name])
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state["optimizer"]})  # with today's LEARNING_RATE


def write_checkpoint(model, optimizer, step):
    """Write a checkpoint. It has its name, and in a bucket its shape, when it is whole; those before it go."""
    folder, unfinished = CHECKPOINTS_DIR / f"step-{step}", CHECKPOINTS_DIR / "unfinished"
    unfinished.mkdir(parents=True, exist_ok=True)
    if FSDP or RANK == 0:
        state = {"model": trained_weights(model), "optimizer": optimizer.state_dict()["state"]}
        torch.save(state, unfinished / part_name())
        if BUCKET:
            bucket.store(unfinished / part_name(), folder / part_name())
    torch.distributed.barrier()
    if RANK == 0:
        (unfinished / "shape.json").write_text(json.dumps(shape()))
        if BUCKET:
            bucket.store(unfinished / "shape.json", folder / "shape.json")
        shutil.rmtree(folder, ignore_errors=True)  # a part without a shape, which a bucket may have
        unfinished.rename(folder)
        for other in [other for other in CHECKPOINTS_DIR.glob("step-*") if other != folder]:
            shutil.rmtree(other)
            if BUCKET:
                bucket.remove(other)


def write_result(model):
    """Write the adapter, or the model, for a server of models: whole, or not at all."""
    if FSDP:
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

        state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    else:
        model, state = model.module, model.module.state_dict()
    if RANK == 0:
        folder = OUTPUT_DIR / ("adapter" if LORA_RANK else "model")
        unfinished = OUTPUT_DIR / f"{folder.name}.unfinished"
        for other in (folder, unfinished):
            shutil.rmtree(other, ignore_errors=True)
        model.save_pretrained(unfinished, state_dict=state)
        if not LORA_RANK and not is_tiny():
            import transformers

            transformers.AutoTokenizer.from_pretrained(MODEL_PATH).save_pretrained(unfinished)
        unfinished.rename(folder)
        for file in folder.iterdir() if BUCKET else ():
            bucket.store(file, file)
        print(f"wrote {folder}", flush=True)
    torch.distributed.barrier()


def main():
    """Train from where an interrupted run of the same name ended."""
    if BUCKET:
        for name, folder in (
            ("datasetsbucket", MODEL_PATH),
            ("datasetsbucket", DATASET_DIR),
            ("trainingbucket", CHECKPOINTS_DIR),
        ):
            bucket.fetch(name, folder)
    if not is_tiny():
        check_model()
    check_gpus()
    start, checkpoint = find_checkpoint()
    device = torch.device("cuda", LOCAL_RANK) if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(1)
    patience = datetime.timedelta(minutes=30)  # while the first saves what all have trained
    torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=patience)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    blocks = read_blocks(load_encoder())
    model = distribute(load_model(), device)
    optimizer = torch.optim.AdamW(trained_weights(model).values(), LEARNING_RATE)
    if checkpoint:
        read_checkpoint(checkpoint, model, optimizer, device)
        if RANK == 0:
            print(f"going on after step {start}", flush=True)
    model.train()
    for step, steps, batch in batches(blocks, start):
        batch = batch.to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained_weights(model).values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0:
            print(f"step {step} of {steps}: loss {loss.item():.4f}", flush=True)
        if step % CHECKPOINT_STEPS == 0:
            write_checkpoint(model, optimizer, step)
    write_result(model)


if __name__ == "__main__":
    try:
        main()
    except torch.cuda.OutOfMemoryError as error:
        sys.exit(f"{error}\nthe GPU is too small: lower BATCH_SIZE or MAX_LENGTH, or set SHARDING to fsdp")
    except Exception as error:
        if not OUTPUT_DIR.is_dir() or shutil.disk_usage(OUTPUT_DIR).free > 1 << 20:
            raise
        said = f"the storage of {OUTPUT_DIR} is full: make room, and the run goes on from its last checkpoint"
        print(f"{error!r}\n{said}", file=sys.stderr, flush=True)
        os._exit(1)  # else PyTorch aborts when it closes the file that it could not write
