"""Runs programs in processes that have the libraries of a training already, which take a quarter of a minute to load.

Reads a line of JSON for each run: {"program": ..., "log": ..., "environments": [...]}, one of these for each process.
Answers with the ids of the processes, and when all have ended with their exit codes.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import torch.distributed.checkpoint.state_dict
import torch.utils.tensorboard
from transformers import AutoModelForCausalLM, Qwen3ForCausalLM
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

LOADED = (AutoModelForCausalLM, Qwen3ForCausalLM, DPOConfig, DPOTrainer, SFTConfig, SFTTrainer, torch)


def run(program, log, environment):
    """Run a program as Python runs one, and end."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.update(environment)
    sys.dont_write_bytecode = True
    sys.argv, sys.path[0] = [program], str(Path(program).parent)
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def fork(program, log, environment):
    return os.fork() or run(program, log, environment)


print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    processes = [fork(asked["program"], asked["log"], each) for each in asked["environments"]]
    print(json.dumps(processes), flush=True)
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]), flush=True)
