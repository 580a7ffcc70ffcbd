"""Tunes a language model with TRL: on chats, prompts with answers or texts, or with METHOD dpo on preferences.

torchrun starts a process for each GPU. MODEL_PATH is as Hugging Face lays it out, and the data are DATASET_DIR/*.jsonl
or DATASET_REPO. OUTPUT_DIR gets checkpoints, from the last of which a run of the same name goes on, logs for
TensorBoard, and in the end `adapter`, as PEFT lays it out, or `model`.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import bucket
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
MODEL_PATH, DATASET_DIR, OUTPUT_DIR = (Path(GIVEN[name]) for name in ("MODEL_PATH", "DATASET_DIR", "OUTPUT_DIR"))
MAX_LENGTH, LORA_RANK, LOCAL_PROCESSES = (int(GIVEN[name]) for name in ("MAX_LENGTH", "LORA_RANK", "LOCAL_WORLD_SIZE"))
METHOD, DATASET_REPO = GIVEN["METHOD"], GIVEN["DATASET_REPO"]
CONFIG, TRAINER = {"sft": (trl.SFTConfig, trl.SFTTrainer), "dpo": (trl.DPOConfig, trl.DPOTrainer)}[METHOD]
FSDP = GIVEN["SHARDING"] == "fsdp"  # each process keeps a part of the weights; else all of them (DDP)
CHECKPOINTS_DIR = OUTPUT_DIR / "checkpoints"

#: What a checkpoint and a run that goes on from it have in common.
SAME = ("METHOD", "LORA_RANK", "QUANTIZATION", "SHARDING", "BATCH_SIZE", "ACCUMULATION_STEPS", "LEARNING_RATE")
SAME += ("MAX_LENGTH", "TRAINER_ARGUMENTS")
SHAPE = {"WORKERS x GPUS": GIVEN["WORLD_SIZE"], **{name: GIVEN[name] for name in SAME}}
#: Who gets the losses, where its variable is there.
TRACKERS = {"tensorboard": "TENSORBOARD_LOGGING_DIR", "mlflow": "MLFLOW_TRACKING_URI", "wandb": "WANDB_API_KEY"}
if transformers.integrations.is_tensorboard_available():
    GIVEN["TENSORBOARD_LOGGING_DIR"] = str(OUTPUT_DIR / "logs")
CHOICE = '{"prompt": ..., "chosen": ..., "rejected": ...}'
CHAT = '{"messages": [{"role": ..., "content": ...}]}'
LINES = {"sft": f'{CHAT}, {{"prompt": ..., "completion": ...}} or {{"text": ...}}', "dpo": CHOICE}[METHOD]
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
    index = folder / "model.safetensors.index.json"
    try:
        config = json.loads((folder / "config.json").read_text())
        names = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else {"model.safetensors"}
    except OSError:
        sys.exit(f"no weights in {folder}, which has no config.json: copy them there, or set MODEL_PATH")
    except (ValueError, LookupError):
        sys.exit(f"{folder}: config.json or {index.name} is not whole: copy both again")
    text = config.get("text_config", config)
    ropes = text.get("rope_scaling") or text.get("rope_parameters") or {}  # as transformers 4 and 5 call it
    kinds = [ropes, *ropes.values()]  # of all layers, or of each kind
    factors = [rope.get("factor") or 1 for rope in kinds if isinstance(rope, dict)]  # some stretch what they know
    context = int((text.get("max_position_embeddings") or MAX_LENGTH) * max(factors))
    if context < MAX_LENGTH:
        sys.exit(f"the context of {folder} is {context} tokens: lower MAX_LENGTH from {MAX_LENGTH}")
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
        return file.stat().st_size == 8 + length + max(ends)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def parse(**learned):
    """Return the arguments of TRL's trainer and model: TRAINER_ARGUMENTS over what follows here over arguments.yaml."""
    on_gpus = torch.cuda.is_available()
    # Weights that change need more than 16 bits, those beside an adapter do not.
    dtype = "bfloat16" if LORA_RANK and on_gpus else "float32"
    # In a checkpoint each process writes what it has; accelerate 1.15 cannot read an adapter that was written so.
    kept = "FULL_STATE_DICT" if LORA_RANK else "SHARDED_STATE_DICT"
    GIVEN.update(ACCELERATE_USE_FSDP=str(FSDP).lower(), FSDP_STATE_DICT_TYPE=kept)  # before they are asked for
    follows = {
        "bf16": on_gpus,
        "use_cpu": not on_gpus,  # else processes without GPUs train alone
        "fsdp": FSDP or None,
        # The first process of a pod reads the weights, and others get them.
        "fsdp_config": {"cpu_ram_efficient_loading": True, "state_dict_type": kept},
        "report_to": [name for name, variable in TRACKERS.items() if variable in GIVEN],
        "dtype": dtype,
        "model_init_kwargs": {"dtype": dtype},
        "use_peft": LORA_RANK > 0,
        "lora_alpha": 2 * LORA_RANK,
        "load_in_4bit": GIVEN["QUANTIZATION"] == "nf4",
        **learned,
    }
    text = Path(__file__).with_name("arguments.yaml").read_text()
    named, usual = yaml.safe_load(text), yaml.safe_load(os.path.expandvars(text))
    parser = trl.TrlParser((CONFIG, trl.ModelConfig), exit_on_error=False, allow_abbrev=False)
    try:
        given = yaml.safe_load(GIVEN["TRAINER_ARGUMENTS"]) or {}
        for name in [name for name in given if str(named.get(name)).startswith("$")]:
            sys.exit(f"TRAINER_ARGUMENTS: set {named[name][1:]} in place of {name}")
        return parser.parse_args_into_dataclasses(parser.set_defaults_with_config(**usual | follows | given))
    except Exception as error:  # of YAML, of argparse, or of TRL
        sys.exit(f"TRAINER_ARGUMENTS: {error}: it is a mapping of TRL's arguments, as {{packing: true}}")


def check(where, line):
    """Refuse an example in JSON that cannot be trained on, and say where it is."""
    try:
        row = json.loads(line)
        if not any(names <= row.keys() for names in COLUMNS):
            raise LookupError(*row)
        learned = "messages" not in row or any(message["role"] == "assistant" for message in row["messages"])
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        sys.exit(f"{where}: each line is {LINES}: {error!r}")
    if not learned:
        sys.exit(f'{where}: no message has the role "assistant", so there is nothing to learn')


def read_data():
    """Return the examples to train on and those to evaluate with, as files that are mapped into memory."""
    cache = str(OUTPUT_DIR / "cache")
    if DATASET_REPO:
        name, _, revision = DATASET_REPO.partition("@")
        splits = datasets.load_dataset(name, revision=revision or None, cache_dir=cache)
        check(DATASET_REPO, json.dumps(splits["train"][0], default=str))
    else:
        files = sorted(DATASET_DIR.glob("*.jsonl"))
        evaluated = sorted(map(str, DATASET_DIR.glob("eval*.jsonl")))
        trained = [str(file) for file in files if str(file) not in evaluated]
        if not trained:
            sys.exit(f"no data: {DATASET_DIR} has no *.jsonl: copy files there, or set DATASET_DIR or DATASET_REPO")
        for file in files if PartialState().is_main_process else ():
            with file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    check(f"{file}:{number}", line)
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
    if "messages" not in columns:
        return examples, {}
    template = transformers.AutoTokenizer.from_pretrained(model)
    if not template.chat_template:
        sys.exit(f"{MODEL_PATH} has no chat template: take the model that was tuned for chats, or give texts")
    try:
        marked = has_generation_markers(template.chat_template) or get_training_chat_template(template)
    except ValueError:
        PartialState().print("the chat template does not mark answers: the last one of each chat is learned")
        return [each and each.map(learn_last_answer, remove_columns=columns) for each in examples], {}
    return examples, {"assistant_only_loss": bool(marked)}


def find_checkpoint():
    """Return the directory of the last whole checkpoint, if there is one; refuse one of another shape."""
    whole = CHECKPOINTS_DIR.glob("checkpoint-*/shape.json")
    step, file = max(((int(file.parent.name[11:]), file) for file in whole), default=(0, None))
    if not file:
        return None
    was = json.loads(file.read_text())
    other = [f"{name} {was.get(name)}, and not {value}" for name, value in SHAPE.items() if was.get(name) != value]
    if other:
        sys.exit(f"{file.parent} is of a run with {'; '.join(other)}: set that again, or another RUN_NAME")
    PartialState().print(f"going on after step {step}")
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
            bucket.store(folder)
            (folder / "shape.json").write_text(json.dumps(SHAPE))
            bucket.store(folder / "shape.json")
            for other in [other for other in CHECKPOINTS_DIR.glob("checkpoint-*") if other != folder]:
                shutil.rmtree(other)
                bucket.remove(other)

    def on_log(self, _args, state, _control, logs, **_):
        values = ", ".join(f"{name} {value:.4g}" for name, value in logs.items() if isinstance(value, float))
        PartialState().print(f"step {state.global_step} of {state.max_steps}: {values}", flush=True)


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
        trainer.model.save_pretrained(unfinished, state_dict=state)
        trainer.processing_class.save_pretrained(unfinished)
        if not all(map(is_whole, unfinished.glob("*.safetensors"))):
            sys.exit(f"{unfinished} has no weights: PEFT or transformers of IMAGE do not fit this program")
        unfinished.rename(folder)
        bucket.store(folder)
        shutil.rmtree(OUTPUT_DIR / "cache", ignore_errors=True)
        print(f"wrote {folder}", flush=True)
    PartialState().wait_for_everyone()


def main():
    """Train from where an interrupted run of the same name ended."""
    bucket.fetch("datasetsbucket", MODEL_PATH)
    bucket.fetch("datasetsbucket", DATASET_DIR)
    bucket.fetch("trainingbucket", CHECKPOINTS_DIR)
    check_gpus()
    model = tiny.create() if MODEL_PATH.name == "tiny" and not MODEL_PATH.exists() else MODEL_PATH
    check_model(model)
    arguments, loading = parse()
    checkpoint = find_checkpoint()
    with arguments.main_process_first(local=False):
        examples, learned = prepare(read_data(), model)
    trainer = TRAINER(
        str(model),
        args=parse(eval_strategy="epoch" if examples[1] else "no", **learned)[0],
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
        print(f"interrupted after step {trainer.state.global_step}: a run of the same name goes on from there")
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
