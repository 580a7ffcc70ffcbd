"""Write a tiny language model of random weights, as Hugging Face lays it out: ``make_model.py FOLDER``.

It is a Qwen3 with a tokenizer of bytes that learned a few words, and a chat template that marks what an assistant says.
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

_LEARNED = ["The quick brown fox jumps over the lazy dog.", "user", "assistant", "system"]
_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}"
    "{% if message.role == 'assistant' %}{% generation %}{{ message.content + '<|im_end|>\\n' }}{% endgeneration %}"
    "{% else %}{{ message.content + '<|im_end|>\\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def main(folder: str) -> None:
    bytes_ = Tokenizer(models.BPE())
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    bytes_.train_from_iterator(_LEARNED, trainer)
    named = {"eos_token": _SPECIAL[2], "pad_token": _SPECIAL[0], "chat_template": _TEMPLATE}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_, model_max_length=4096, **named)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    size = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "max_position_embeddings": 4096}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    config = Qwen3Config(
        vocab_size=len(tokenizer), tie_word_embeddings=True, initializer_range=0.2, **size, **heads, **ends
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
