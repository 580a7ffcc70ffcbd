"""Tunes a language model with TRL: on chats, prompts with answers or texts, or with METHOD dpo on preferences.

torchrun starts a process for each GPU. MODEL_PATH is as Hugging Face lays it out, and the data are DATASET_DIR/*.jsonl
or DATASET_REPO. OUTPUT_DIR gets checkpoints, from the last of which a run of the same name goes on, logs for
TensorBoard, and in the end `adapter`, as PEFT lays it out, or `model`.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import sys

import datasets
import torch
import transformers
import trl
import yaml
from accelerate import PartialState
from accelerate.utils import reduce
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from trl.chat_template_utils import get_training_chat_template, has_generation_markers

import tiny

GIVEN = os.environ
MODEL_PATH, DATASET_DIR, OUTPUT_DIR = (
    pathlib.Path(GIVEN[name]) for name in ("MODEL_PATH", "DATASET_DIR", "OUTPUT_DIR")
)
MAX_LENGTH, LORA_RANK, LOCAL_PROCESSES = (int(GIVEN[name]) for name in ("MAX_LENGTH", "LORA_RANK", "LOCAL_WORLD_SIZE"))
METHOD, DATASET_REPO = GIVEN["METHOD"], GIVEN["DATASET_REPO"]
FSDP = GIVEN["SHARDING"] == "fsdp"  # each process keeps a part of the weights; else all of them (DDP)
CHECKPOINTS_DIR = OUTPUT_DIR / "checkpoints"
BUCKET = "trainingbucket" in GIVEN  # in place of a storage: the paths of the run are below /tmp
if BUCKET:
    import bucket

#: The arguments of TRL that have a parameter. All others are for TRAINER_ARGUMENTS.
PARAMETERS = {
    "per_device_train_batch_size": ("BATCH_SIZE", int),
    "gradient_accumulation_steps": ("ACCUMULATION_STEPS", int),
    "num_train_epochs": ("TRAIN_EPOCHS", float),
    "learning_rate": ("LEARNING_RATE", float),
    "max_length": ("MAX_LENGTH", int),
    "save_steps": ("CHECKPOINT_STEPS", int),
}
#: What a checkpoint and a run that goes on from it have in common.
SAME = ("METHOD", "LORA_RANK", "QUANTIZATION", "SHARDING", "BATCH_SIZE", "ACCUMULATION_STEPS", "LEARNING_RATE")
SAME += ("MAX_LENGTH", "TRAINER_ARGUMENTS")
SHAPE = {"WORKERS x GPUS": GIVEN["WORLD_SIZE"], **{name: GIVEN[name] for name in SAME}}
#: Who gets the losses: TensorBoard's files, and services whose variables are there.
TRACKERS = {
    "tensorboard": importlib.util.find_spec("tensorboard"),
    "mlflow": "MLFLOW_TRACKING_URI" in GIVEN,
    "wandb": "WANDB_API_KEY" in GIVEN,
}
GIVEN["TENSORBOARD_LOGGING_DIR"] = str(OUTPUT_DIR / "logs")
CHOICE = '{"prompt": ..., "chosen": ..., "rejected": ...}'
LINES = {"sft": '{"messages": [...]}, {"prompt": ..., "completion": ...} or {"text": ...}', "dpo": CHOICE}[METHOD]
COLUMNS = {"sft": ({"messages"}, {"prompt", "completion"}, {"text"}), "dpo": ({"chosen", "rejected"},)}[METHOD]


def check_gpus():
    """Refuse to share a GPU, or to do without if DEVICE does not say so."""
    count = torch.cuda.device_count()
    if count < LOCAL_PROCESSES and (count or GIVEN.get("DEVICE") != "cpu"):
        sys.exit(
            f"this pod has {LOCAL_PROCESSES} processes and sees {count} GPUs:"
            " set GPUS to what its node has, and IMAGE to one with CUDA"
        )


def check_model(folder):
    """Refuse weights that are not there, or not whole, as after a copy that ended early; and a context too long."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except OSError:
        sys.exit(f"no weights in {folder}, which has no config.json: copy them there, or set MODEL_PATH")
    except ValueError:
        sys.exit(f"{folder}/config.json is not whole: copy it again")
    text = config.get("text_config", config)
    ropes = text.get("rope_scaling") or text.get("rope_parameters") or {}  # as transformers 4 and 5 call it
    kinds = [ropes, *ropes.values()]  # of all layers, or of each kind
    factors = [rope.get("factor") or 1 for rope in kinds if isinstance(rope, dict)]  # some stretch what they know
    context = int((text.get("max_position_embeddings") or MAX_LENGTH) * max(factors))
    if context < MAX_LENGTH:
        sys.exit(f"the context of {folder} is {context} tokens: lower MAX_LENGTH from {MAX_LENGTH}")
    index = folder / "model.safetensors.index.json"
    try:
        names = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else {"model.safetensors"}
    except (ValueError, LookupError):
        names = {index.name}
    broken = sorted(name for name in names if not is_whole(folder / name))
    if broken:
        sys.exit(f"{folder}: files that are not there, or not whole: copy {', '.join(broken)} again")


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


def config(dtype, **others):
    """Return the configuration of TRL's trainer: TRAINER_ARGUMENTS over what is usual over TRL's own."""
    on_gpus = torch.cuda.is_available()
    # In a checkpoint each process writes what it has; accelerate 1.15 cannot read an adapter that was written so.
    kept = "FULL_STATE_DICT" if LORA_RANK else "SHARDED_STATE_DICT"
    if FSDP:  # before transformers and accelerate ask
        GIVEN.update(ACCELERATE_USE_FSDP="true", FSDP_STATE_DICT_TYPE=kept)
    usual = {
        "output_dir": str(CHECKPOINTS_DIR),
        "lr_scheduler_type": "cosine",
        "warmup_steps": 0.03,  # of all steps
        "bf16": on_gpus,
        "use_cpu": not on_gpus,
        "gradient_checkpointing": not FSDP,
        "fsdp": FSDP or None,
        # The first process of a pod reads the weights, and others get them.
        "fsdp_config": {"activation_checkpointing": True, "cpu_ram_efficient_loading": True, "state_dict_type": kept},
        "ddp_find_unused_parameters": False,
        "ddp_timeout": 4 * 3600,  # while the first process of all reads the data
        "logging_first_step": True,
        "disable_tqdm": True,
        "report_to": [name for name, there in TRACKERS.items() if there],
        "model_init_kwargs": {"dtype": dtype},
        **{name: kind(GIVEN[parameter]) for name, (parameter, kind) in PARAMETERS.items()},
        **others,
    }
    try:
        given = yaml.safe_load(GIVEN["TRAINER_ARGUMENTS"]) or {}
        for name in PARAMETERS.keys() & given.keys():
            sys.exit(f"TRAINER_ARGUMENTS: set {PARAMETERS[name][0]} in place of {name}")
        return {"sft": trl.SFTConfig, "dpo": trl.DPOConfig}[METHOD](**usual | given)
    except (TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        sys.exit(f"TRAINER_ARGUMENTS: {error}: it is a mapping of TRL's arguments, as {{packing: true}}")


def weights():
    """Return how weights are loaded: those that change need more than 16 bits, those beside an adapter do not."""
    return trl.ModelConfig(
        dtype="bfloat16" if LORA_RANK and torch.cuda.is_available() else "float32",
        use_peft=LORA_RANK > 0,
        lora_r=LORA_RANK,
        lora_alpha=2 * LORA_RANK,
        lora_target_modules=["all-linear"],
        load_in_4bit=GIVEN["QUANTIZATION"] == "nf4",
        use_bnb_nested_quant=True,
        bnb_4bit_quant_storage="bfloat16",
    )


def fault(row):
    """Return what is wrong with an example, if anything is."""
    if not isinstance(row, dict) or not any(names <= row.keys() for names in COLUMNS):
        return f"each line is {LINES}"
    try:
        if "messages" in row and all(message["role"] != "assistant" for message in row["messages"]):
            return 'no message has the role "assistant", so there is nothing to learn'
    except (TypeError, LookupError):
        return '"messages" is a list of {"role": ..., "content": ...}'
    return None


def check_lines(files):
    """Refuse the first line that cannot be trained on, by its number."""
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    said = fault(json.loads(line))
                except ValueError as error:
                    said = f"each line is {LINES}: {error!r}"
                if said:
                    sys.exit(f"{file}:{number}: {said}")


def read_data():
    """Return the examples to train on and those to evaluate with, as files that are mapped into memory."""
    cache = str(OUTPUT_DIR / "cache")
    if DATASET_REPO:
        name, _, revision = DATASET_REPO.partition("@")
        splits = datasets.load_dataset(name, revision=revision or None, cache_dir=cache)
        if said := fault(splits["train"][0]):
            sys.exit(f"{DATASET_REPO}: {said}")
    else:
        files = sorted(DATASET_DIR.glob("*.jsonl"))
        evaluated = sorted(map(str, DATASET_DIR.glob("eval*.jsonl")))
        trained = [str(file) for file in files if str(file) not in evaluated]
        if not trained:
            sys.exit(f"no data: {DATASET_DIR} has no *.jsonl: copy files there, or set DATASET_DIR or DATASET_REPO")
        if PartialState().is_main_process:
            check_lines(files)
        names = {"train": trained} | ({"test": evaluated} if evaluated else {})
        splits = datasets.load_dataset("json", data_files=names, cache_dir=cache)
    return splits["train"], splits.get("validation") or splits.get("test")


def learn_last_answer(row):
    """Turn a chat into its last answer and what led to it."""
    last = max(index for index, message in enumerate(row["messages"]) if message["role"] == "assistant")
    return {"prompt": row["messages"][:last], "completion": row["messages"][last : last + 1]}


def prepare(examples, model):
    """Return examples as a trainer takes them, and its arguments so that answers alone are learned."""
    columns = examples[0].column_names
    template = transformers.AutoTokenizer.from_pretrained(model)
    talks = isinstance(next(iter(examples[0]))[columns[0]], list)
    if talks and not template.chat_template:
        sys.exit(f"{MODEL_PATH} has no chat template: take the model that was tuned for chats, or give texts")
    if "messages" not in columns:
        return examples, {}
    try:
        if has_generation_markers(template.chat_template) or get_training_chat_template(template):
            return examples, {"assistant_only_loss": True}
    except ValueError:
        say("the chat template does not tell answers from questions: the last answer of each chat is learned")
    return [each and each.map(learn_last_answer, remove_columns=columns) for each in examples], {}


def say(text):
    if PartialState().is_main_process:
        print(text, flush=True)


def find_checkpoint():
    """Return the directory of the last whole checkpoint, if there is one; refuse one of another shape."""
    whole = CHECKPOINTS_DIR.glob("checkpoint-*/shape.json")
    step, file = max(((int(file.parent.name[11:]), file) for file in whole), default=(0, None))
    if not file:
        return None
    was = json.loads(file.read_text())
    other = [f"{name} {was.get(name)}, and not {value}" for name, value in SHAPE.items() if was.get(name) != value]
    if other:
        sys.exit(
            f"{file.parent} is of a run with {'; '.join(other)}: set that again, or another RUN_NAME to start over"
        )
    say(f"going on after step {step}")
    return str(file.parent)


class Watch(transformers.TrainerCallback):
    """Prints losses, gives a checkpoint its shape when it is whole, and takes one when the pod is to end."""

    def __init__(self):
        self.signals = []
        signal.signal(signal.SIGTERM, lambda number, _: self.signals.append(number))

    def on_step_end(self, args, _state, control, **_):
        """End all processes after the same step, as soon as one of them is to end."""
        if reduce(torch.tensor(len(self.signals), device=args.device), "max").item():
            control.should_save = control.should_training_stop = True

    def on_save(self, _args, state, _control, **_):
        folder = CHECKPOINTS_DIR / f"checkpoint-{state.global_step}"
        PartialState().wait_for_everyone()
        if state.is_world_process_zero:
            if BUCKET:
                bucket.store_all(folder)
            (folder / "shape.json").write_text(json.dumps(SHAPE))
            if BUCKET:
                bucket.store(folder / "shape.json")
            for other in [other for other in CHECKPOINTS_DIR.glob("checkpoint-*") if other != folder]:
                shutil.rmtree(other)
                if BUCKET:
                    bucket.remove(other)

    def on_log(self, _args, state, _control, logs, **_):
        values = ", ".join(f"{name} {value:.4g}" for name, value in logs.items() if isinstance(value, float))
        say(f"step {state.global_step} of {state.max_steps}: {values}")


def write_result(trainer):
    """Write the adapter, or the model, in 16 bits for a server of models: whole, or not at all."""
    trainer.model.to(torch.bfloat16)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=bool(LORA_RANK))
    state = get_model_state_dict(trainer.model, options=options)
    if trainer.is_world_process_zero():
        folder = OUTPUT_DIR / ("adapter" if LORA_RANK else "model")
        unfinished = OUTPUT_DIR / f"{folder.name}.unfinished"
        for other in (folder, unfinished):
            shutil.rmtree(other, ignore_errors=True)
        for module in [*trainer.model.modules()]:  # PEFT finds no weights by the names that FSDP's wrappers give
            for name, child in module.named_children():
                setattr(module, name, getattr(child, "_checkpoint_wrapped_module", child))
        trainer.accelerator.unwrap_model(trainer.model).save_pretrained(unfinished, state_dict=state)
        trainer.processing_class.save_pretrained(unfinished)
        if not all(map(is_whole, unfinished.glob("*.safetensors"))):
            sys.exit(f"{unfinished} has no weights: PEFT or transformers of IMAGE do not fit this program")
        unfinished.rename(folder)
        if BUCKET:
            bucket.store_all(folder)
        shutil.rmtree(OUTPUT_DIR / "cache", ignore_errors=True)
        print(f"wrote {folder}", flush=True)
    PartialState().wait_for_everyone()


def main():
    """Train from where an interrupted run of the same name ended."""
    if BUCKET:
        bucket.fetch("datasetsbucket", MODEL_PATH)
        bucket.fetch("datasetsbucket", DATASET_DIR)
        bucket.fetch("trainingbucket", CHECKPOINTS_DIR)
    check_gpus()
    model = tiny.create() if MODEL_PATH.name == "tiny" and not MODEL_PATH.exists() else MODEL_PATH
    check_model(model)
    loading = weights()
    arguments = config(loading.dtype)
    checkpoint = find_checkpoint()
    with arguments.main_process_first(local=False):
        examples, learned = prepare(read_data(), model)
    if examples[1]:
        learned["eval_strategy"] = "epoch"
    trainer = {"sft": trl.SFTTrainer, "dpo": trl.DPOTrainer}[METHOD](
        str(model),
        args=config(loading.dtype, **learned),
        train_dataset=examples[0],
        eval_dataset=examples[1],
        quantization_config=trl.get_quantization_config(loading),
        peft_config=trl.get_peft_config(loading),
        callbacks=[Watch()],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    if FSDP:
        trainer.save_model = lambda *_, **__: None  # of checkpoints, which have the weights in FSDP's own form
    trainer.train(resume_from_checkpoint=checkpoint)
    if trainer.state.global_step < trainer.state.max_steps:
        say(f"interrupted after step {trainer.state.global_step}: a run of the same name goes on from there")
        sys.exit(128 + signal.SIGTERM)
    write_result(trainer)


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
