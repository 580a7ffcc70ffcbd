"""A small model, whole: what programs read of a language model before they load it."""

from __future__ import annotations

import json

_CONFIG = {
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_hidden_layers": 28,
    "head_dim": 128,
    "max_position_embeddings": 40960,
}


def tensors(size: int) -> bytes:
    """Return a file of safetensors with one tensor of so many bytes."""
    header = json.dumps({"__metadata__": {}, "w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size)


#: Its files by their names.
MODEL = {"config.json": json.dumps(_CONFIG).encode(), "model.safetensors": tensors(1000)}
#: An adapter of it in PEFT's layout.
ADAPTER = {"adapter_config.json": b'{"peft_type": "LORA", "r": 8}', "adapter_model.safetensors": tensors(100)}
