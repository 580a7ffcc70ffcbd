"""Rules between setters: what a Krmfile says of values that depend on each other.

rules:
- rule: EPOCHS_BETWEEN_EVALS <= TRAIN_EPOCHS
  message: An evaluation comes at most as late as the last epoch.
"""
