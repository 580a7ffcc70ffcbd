"""Trains on MNIST with a loop of its own and MultiWorkerMirroredStrategy, from the last checkpoint of the run on."""

import mnist
import tensorflow as tf


def main():
    """Train, keep a checkpoint of every epoch, and save the model below OUTPUT_DIR."""
    asked = mnist.arguments()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    batch_size = asked.batch_size * strategy.num_replicas_in_sync
    data, size = mnist.dataset(asked.data, batch_size)
    with strategy.scope():
        model = mnist.network()
        optimizer = tf.keras.optimizers.Adam(asked.learning_rate)
        optimizer.build(model.trainable_variables)  # else a checkpoint would find nothing to restore
        losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    epoch = tf.Variable(0, dtype=tf.int64)

    def train_step(inputs):
        images, labels = inputs
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(
                losses(labels, model(images, training=True)), global_batch_size=batch_size
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train(iterator, steps):
        total = 0.0
        for _ in tf.range(steps):
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(train_step, (next(iterator),)), axis=None)
        return total / tf.cast(steps, tf.float32)

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
    latest = tf.train.latest_checkpoint(str(asked.output_dir / "checkpoints"))
    if latest:
        checkpoint.restore(latest)
        print(f"continuing after epoch {epoch.numpy()}", flush=True)
    writing_dir = mnist.writing_dir(asked.output_dir / "checkpoints")
    manager = tf.train.CheckpointManager(checkpoint, str(writing_dir), max_to_keep=2)
    steps = tf.constant(asked.steps_per_epoch or size // batch_size)
    iterator = iter(strategy.experimental_distribute_dataset(data))
    while epoch.numpy() < asked.epochs:
        loss = train(iterator, steps)
        epoch.assign_add(1)
        manager.save()
        print(f"epoch {epoch.numpy()}: loss {float(loss):.6f}", flush=True)
    model.save(str(mnist.writing_dir(asked.output_dir / "model") / "mnist.keras"))


if __name__ == "__main__":
    main()
