"""Write an adapter of random weights for a model, as PEFT lays it out: ``make_adapter.py MODEL FOLDER``."""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig

RANK = 8


def main(model: str, folder: Path) -> None:
    config = AutoConfig.from_pretrained(model)
    inner, outer = config.hidden_size, config.num_attention_heads * config.head_dim
    place = "base_model.model.model.layers.0.self_attn.q_proj"
    weights = {f"{place}.lora_A.weight": torch.randn(RANK, inner), f"{place}.lora_B.weight": torch.randn(outer, RANK)}
    folder.mkdir()
    save_file(weights, folder / "adapter_model.safetensors")
    told = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": RANK, "lora_alpha": RANK, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
