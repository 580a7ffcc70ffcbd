"""What both MNIST programs share: their arguments, the data, the network, and where each worker writes."""

import argparse
import json
import os
import pathlib
import tempfile

import numpy
import tensorflow as tf


def arguments():
    """Read the command line; directories come from the environment of the pod."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64, help="images per step of one worker")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--steps-per-epoch", type=int, default=0, help="0: as many as the data has")
    found = parser.parse_args()
    found.data = pathlib.Path(os.environ["DATASET_DIR"]) / "mnist.npz"
    found.output_dir = pathlib.Path(os.environ["OUTPUT_DIR"])
    return found


def dataset(file, batch_size):
    """Return the training images and labels, shuffled, repeated and in batches of all workers together."""
    with numpy.load(file) as arrays:
        images, labels = arrays["x_train"], arrays["y_train"]
    images = (images[..., numpy.newaxis] / 255.0).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((images, labels.astype("int64")))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return data.shuffle(len(images), seed=1).repeat().batch(batch_size).with_options(options), len(images)


def network():
    """Return the network, with logits for ten digits."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def is_chief():
    """Tell whether this worker is the one whose files are kept: the first."""
    return json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0) == 0


def writing_dir(directory):
    """Return where this worker writes: all of them have to, but only what the first one writes is kept."""
    if is_chief():
        directory.mkdir(parents=True, exist_ok=True)
        return directory
    return pathlib.Path(tempfile.mkdtemp())
