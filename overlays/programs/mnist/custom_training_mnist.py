"""Trains the same network as keras_mnist.py with a loop of its own, from the last checkpoint of the run on."""

import tensorflow as tf
from keras_mnist import BATCH_SIZE, LEARNING_RATE, OUTPUT_DIR, TRAIN_EPOCHS, dataset, network, save, writing_dir


def main():
    """Train, keep a checkpoint of every epoch, and save the model."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    batch_size = BATCH_SIZE * strategy.num_replicas_in_sync
    data, steps = dataset(batch_size)
    with strategy.scope():
        model = network()
        optimizer = tf.keras.optimizers.Adam(LEARNING_RATE)
        optimizer.build(model.trainable_variables)  # else a checkpoint would find nothing to restore
        losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    epoch = tf.Variable(0, dtype=tf.int64)

    def train_step(inputs):
        images, labels = inputs
        with tf.GradientTape() as tape:
            found = losses(labels, model(images, training=True))
            loss = tf.nn.compute_average_loss(found, global_batch_size=batch_size)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train(iterator):
        total = 0.0
        for _ in tf.range(steps):
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(train_step, (next(iterator),)), axis=None)
        return total / steps

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
    latest = tf.train.latest_checkpoint(str(OUTPUT_DIR / "checkpoints"))
    if latest:
        checkpoint.restore(latest)
        print(f"continuing after epoch {epoch.numpy()}", flush=True)
    manager = tf.train.CheckpointManager(checkpoint, str(writing_dir("checkpoints")), max_to_keep=2)
    iterator = iter(strategy.experimental_distribute_dataset(data))
    with tf.summary.create_file_writer(str(writing_dir("logs"))).as_default():
        while epoch.numpy() < TRAIN_EPOCHS:
            loss = train(iterator)
            epoch.assign_add(1)
            manager.save()
            tf.summary.scalar("loss", loss, step=epoch)
            print(f"epoch {epoch.numpy()}: loss {float(loss):.6f}", flush=True)
    save(strategy, model)


if __name__ == "__main__":
    main()
