"""Trains on MNIST with Keras and MultiWorkerMirroredStrategy, from where an interrupted run of the same name ended."""

import mnist
import tensorflow as tf


def main():
    """Train, and save the model below OUTPUT_DIR."""
    asked = mnist.arguments()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    batch_size = asked.batch_size * strategy.num_replicas_in_sync
    data, size = mnist.dataset(asked.data, batch_size)
    with strategy.scope():
        model = mnist.network()
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(asked.learning_rate),
            metrics=["accuracy"],
        )
    # The state has to be read by every worker, so it lies on the storage for all of them.
    callbacks = [tf.keras.callbacks.BackupAndRestore(str(asked.output_dir / "backup"))]
    if mnist.is_chief():
        callbacks.append(tf.keras.callbacks.TensorBoard(str(asked.output_dir / "logs")))
    steps = asked.steps_per_epoch or size // batch_size
    history = model.fit(data, epochs=asked.epochs, steps_per_epoch=steps, callbacks=callbacks, verbose=2)
    for epoch, loss in zip(history.epoch, history.history["loss"], strict=True):
        print(f"epoch {epoch + 1}: loss {loss:.6f}", flush=True)
    model.save(str(mnist.writing_dir(asked.output_dir / "model") / "mnist.keras"))


if __name__ == "__main__":
    main()
