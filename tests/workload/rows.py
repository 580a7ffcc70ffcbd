"""Reads rows as the program of Wide and Deep does before it trains, and prints how much memory each of them took.

A stand-in for `build_feature_cols` of IntelAI/models v2.7.0,
`models/recommendation/tensorflow/wide_deep_large_ds/training/train.py`, lines 66 to 80: it keeps every column of every
row of both files as a text, and all of them once more in an array of texts as long as the longest (numpy's `<U8`, four
bytes for each character).

    python3 rows.py TRAIN.CSV EVAL.CSV
"""

import sys
from pathlib import Path


def peak() -> int:
    """Return the most memory that this process has had, in bytes; what getrusage says counts its parent's as well."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def main(train_file: str, eval_file: str) -> None:
    before = peak()
    with Path(train_file).open() as train, Path(eval_file).open() as evaluation:
        rows = [line.strip("\n").split(",") for line in train.readlines()]
        rows += [line.strip("\n").split(",") for line in evaluation.readlines()]
    longest = max(len(text) for row in rows for text in row)
    array = bytearray(b"\1") * (len(rows) * len(rows[0]) * longest * 4)
    print((peak() - before) // len(rows), len(array))


if __name__ == "__main__":
    main(*sys.argv[1:])
