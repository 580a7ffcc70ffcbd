#!/usr/bin/env python3
"""Ask a served Wide and Deep model for rows of eval.csv: prints how often it is right, and how long it takes.

    kubectl port-forward -n ml service/NAME 8501:8501
    python3 predict.py -d eval.csv

It speaks the REST protocol of TensorFlow Serving, and needs nothing but Python 3.10 or later.
"""

import argparse
import csv
import itertools
import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

NUMBERS = [f"I{number}" for number in range(1, 14)]
CATEGORIES = [f"C{number}" for number in range(1, 27)]


def parse(row):
    """Return the label and the features of a row; a number that is missing counts as 0."""
    if len(row) != 1 + len(NUMBERS) + len(CATEGORIES):
        raise ValueError(f"{len(row)} columns, not {1 + len(NUMBERS) + len(CATEGORIES)}")
    numbers = [float(text or 0) for text in row[1 : 1 + len(NUMBERS)]]
    return int(row[0]), dict(zip(NUMBERS + CATEGORIES, numbers + row[1 + len(NUMBERS) :], strict=True))


def ask(url, instances):
    """Return which label the model takes for the likeliest, for each instance."""
    body = json.dumps({"signature_name": "predict", "instances": instances}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        predictions = json.load(answer)["predictions"]
    probabilities = [prediction["probabilities"] for prediction in predictions]
    return [each.index(max(each)) for each in probabilities]


def main(options):
    """Send the batches, and print what came of them."""
    url = f"http://{options.server}/v1/models/{options.model}:predict"
    right, asked, times = 0, 0, []
    with options.data_file.open(newline="") as file:
        rows = (parse(row) for row in csv.reader(file))
        for number in range(options.num_iteration):
            batch = list(itertools.islice(rows, options.batch_size))
            if not batch:
                break
            start = time.perf_counter()
            labels = ask(url, [features for _, features in batch])
            if number >= options.warm_up_iteration:
                times.append((time.perf_counter() - start) / len(batch))
            right += sum(label == expected for label, (expected, _) in zip(labels, batch, strict=True))
            asked += len(batch)
    if not asked:
        raise ValueError("no rows")
    print(f"accuracy {right / asked:.4f} of {asked} rows")
    if times:
        print(f"{1000 * sum(times) / len(times):.2f} ms a row, {len(times) / sum(times):.1f} rows a second")


def at_least(smallest):
    """Return a parser of whole numbers that refuses smaller ones."""

    def number(text):
        if int(text) < smallest:
            raise argparse.ArgumentTypeError(f"at least {smallest}")
        return int(text)

    return number


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", "--server", default="localhost:8501", help="host and port (%(default)s)")
    parser.add_argument("-m", "--model", default="wide-deep-large-ds-fp32-training", help="MODEL_NAME (%(default)s)")
    parser.add_argument("-d", "--data_file", type=Path, required=True, help="eval.csv")
    parser.add_argument("-b", "--batch_size", type=at_least(1), default=1, help="rows a request (%(default)s)")
    parser.add_argument("-n", "--num_iteration", type=at_least(1), default=40, help="requests (%(default)s)")
    parser.add_argument(
        "-w", "--warm_up_iteration", type=at_least(0), default=10, help="requests before times count (%(default)s)"
    )
    given = parser.parse_args()
    try:
        main(given)
    except urllib.error.HTTPError as error:
        sys.exit(f"{given.server} answers {error.code}: {error.read().decode(errors='replace').strip()}")
    except (OSError, ValueError) as error:
        sys.exit(f"{given.server} or {given.data_file}: {error}")
