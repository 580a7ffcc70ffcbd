"""Trains on MNIST with Keras: alone, or with the workers that TF_CONFIG names, each on its part of every batch."""

import json
import os
import pathlib
import tempfile

import numpy
import tensorflow as tf

BATCH_SIZE, TRAIN_EPOCHS = (int(os.environ[name]) for name in ("BATCH_SIZE", "TRAIN_EPOCHS"))
LEARNING_RATE = float(os.environ["LEARNING_RATE"])
DATASET_DIR, OUTPUT_DIR = (pathlib.Path(os.environ[name]) for name in ("DATASET_DIR", "OUTPUT_DIR"))


def dataset(batch_size):
    """Return batches for all workers together, without end, and how many of them are one pass over the data."""
    with numpy.load(DATASET_DIR / "mnist.npz") as arrays:
        images, labels = arrays["x_train"], arrays["y_train"]
    images = (images[..., numpy.newaxis] / 255.0).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((images, labels.astype("int64")))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    data = data.shuffle(len(images), seed=1).repeat().batch(batch_size).with_options(options)
    return data, max(1, len(images) // batch_size)


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


def writing_dir(name):
    """Return where this worker writes: all of them have to, but only what the first one writes is kept."""
    if json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0) > 0:
        return pathlib.Path(tempfile.mkdtemp())
    directory = OUTPUT_DIR / name
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def save(strategy, model):
    """Save the model. No worker ends before the first has saved it: TensorFlow starts none again without the others."""
    model.save(str(writing_dir("model") / "mnist.keras"))

    @tf.function
    def meet():
        replica = tf.distribute.get_replica_context()
        return replica.all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(1))

    strategy.run(meet)


def main():
    """Train from where an interrupted run of the same name ended, and save the model."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    data, steps = dataset(BATCH_SIZE * strategy.num_replicas_in_sync)
    with strategy.scope():
        model = network()
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(LEARNING_RATE),
            metrics=["accuracy"],
        )
    # Every worker reads the state after an interruption, so it lies on the storage for all of them.
    backup = tf.keras.callbacks.BackupAndRestore(str(OUTPUT_DIR / "backup"))
    logs = tf.keras.callbacks.TensorBoard(str(writing_dir("logs")))
    model.fit(data, epochs=TRAIN_EPOCHS, steps_per_epoch=steps, callbacks=[backup, logs], verbose=2)
    save(strategy, model)


if __name__ == "__main__":
    main()
