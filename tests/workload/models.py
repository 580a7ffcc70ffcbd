"""A small model, whole: what programs read of a language model before they load it."""

import json
import math
from collections.abc import Mapping, Sequence

#: What config.json says of Qwen3-0.6B, of what is looked at.
CONFIG = {
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_hidden_layers": 28,
    "head_dim": 128,
    "max_position_embeddings": 40960,
}


def tensors(shapes: Mapping[str, Sequence[int]]) -> bytes:
    """Return a file of safetensors with tensors of bytes, all 0."""
    header: dict[str, object] = {"__metadata__": {}}
    end = 0
    for name, shape in shapes.items():
        offsets = [end, end := end + math.prod(shape)]
        header[name] = {"dtype": "U8", "shape": shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


_LAYER = "base_model.model.model.layers.0.self_attn.q_proj"
#: An adapter of it in PEFT's layout.
ADAPTER = {
    "adapter_config.json": b'{"peft_type": "LORA", "r": 8}',
    "adapter_model.safetensors": tensors({f"{_LAYER}.lora_A.weight": [8, 4], f"{_LAYER}.lora_B.weight": [4, 8]}),
}
