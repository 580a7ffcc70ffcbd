"""A model of bytes, as small as can be, which train.py takes for MODEL_PATH /tiny: a cluster can be tried by it."""

import json
import types

import torch


class Model(torch.nn.Module):
    """The next byte from the one before; with a rank, by an adapter (LoRA) beside weights that stay."""

    def __init__(self, rank, size=32):
        super().__init__()
        self.rank = rank
        self.bytes = torch.nn.Embedding(256, size)
        self.next = torch.nn.Linear(size, 256)
        if rank:
            self.requires_grad_(False)
            self.lora_A = torch.nn.Linear(size, rank, bias=False)
            self.lora_B = torch.nn.Linear(rank, 256, bias=False)
            torch.nn.init.zeros_(self.lora_B.weight)

    def forward(self, input_ids, labels):
        hidden = self.bytes(input_ids[:, :-1])
        logits = self.next(hidden)
        if self.rank:
            logits = logits + 2 * self.lora_B(self.lora_A(hidden))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())
        return types.SimpleNamespace(loss=loss)

    def save_pretrained(self, folder, state_dict):
        """Write files as PEFT does, or transformers where there is no adapter."""
        folder.mkdir(parents=True)
        if self.rank:
            config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": self.rank, "lora_alpha": 2 * self.rank}
            config |= {"base_model_name_or_path": "tiny", "target_modules": ["next"]}
            (folder / "adapter_config.json").write_text(json.dumps(config))
            names = {f"base_model.model.next.{name}": value for name, value in state_dict.items() if "lora_" in name}
            write(folder / "adapter_model.safetensors", names)
        else:
            (folder / "config.json").write_text(json.dumps({"model_type": "tiny"}))
            write(folder / "model.safetensors", state_dict)


def encode(text):
    return [*text.encode(), 0]


def write(file, tensors):
    """Write safetensors: the length of a header, the header, and the numbers in its order."""
    data, header = b"", {}
    for name, value in tensors.items():
        numbers = value.cpu().float().contiguous().numpy().tobytes()
        offsets = [len(data), len(data) + len(numbers)]
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": offsets}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + data)
