"""Asks a model, or an adapter beside its model, for the rest of a chat. Prints answer and types."""

import os
from pathlib import Path

import peft
import safetensors.torch
import torch
import transformers

folder = Path(os.environ["RESULT"])
is_adapter = (folder / "adapter_config.json").exists()
kind = peft.AutoPeftModelForCausalLM if is_adapter else transformers.AutoModelForCausalLM
model = kind.from_pretrained(folder)
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
question = [{"role": "user", "content": os.environ["QUESTION"]}]
asked = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
with torch.no_grad():
    said = model.generate(**asked, max_new_tokens=40, do_sample=False)[0, asked["input_ids"].shape[1] :]
print("answer:", tokenizer.decode(said, skip_special_tokens=True))
written = safetensors.torch.load_file(next(folder.glob("*.safetensors")))
print("types:", sorted({str(value.dtype) for value in written.values()}))
