"""Training of PyTorch models over workers. Needs the extra `torch`."""

from deadheat.jobs.torch_training import Trained, Training, flat, in_series
