"""A language model as small as can be, of random weights, which train.py takes for MODEL_PATH /tiny."""

import contextlib
import pathlib
import tempfile

import tokenizers
import torch
import transformers

CHAT = """\
{%- for message in messages %}<|{{ message.role }}|>
{%- if message.role == 'assistant' %}{% generation %}{{ message.content }}<|end|>{% endgeneration %}
{%- else %}{{ message.content }}<|end|>{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""
MARKS = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]


def create():
    """Write it as Hugging Face lays models out, once for all processes of a pod, and return its directory."""
    made, folder = pathlib.Path(tempfile.mkdtemp()), pathlib.Path(tempfile.gettempdir(), "tiny")
    write(made)
    with contextlib.suppress(OSError):  # another process was first
        made.rename(folder)
    return folder


def write(folder):
    """Write the model, and a tokenizer that has a token for each byte."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: number for number, text in enumerate([*letters, *MARKS])}
    bytes_alone = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    bytes_alone.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_alone.decoder = tokenizers.decoders.ByteLevel()
    bytes_alone.add_special_tokens(MARKS)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bytes_alone, eos_token=MARKS[0], pad_token=MARKS[1], chat_template=CHAT
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "max_position_embeddings": 512}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 32}
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    config = transformers.Qwen3Config(
        vocab_size=len(tokenizer), tie_word_embeddings=True, initializer_range=0.2, **shape, **heads, **ends
    )
    transformers.Qwen3ForCausalLM(config).save_pretrained(folder)
