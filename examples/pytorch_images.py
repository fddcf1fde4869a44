"""A small convolutional network on synthetic images, in mini-batches over three workers, under a gradient code.

40 steps; the weights differ from one process alone by less than 1e-5: True; accuracy above 0.9: True
"""

import numpy as np
import torch
from torch import nn

import deadheat as dh
from deadheat.jobs import in_series

torch.manual_seed(0)
rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 480)
images = 0.3 * rng.normal(size=(480, 1, 12, 12))
for image, label in zip(images, labels, strict=True):  # a bar, lying or standing
    at = rng.integers(2, 10)
    image[0, at, :] += 1 - label
    image[0, :, at] += label
x, y = torch.tensor(images, dtype=torch.float32), torch.tensor(labels)

model = nn.Sequential(
    nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 6), nn.Flatten(), nn.Dropout(0.1), nn.Linear(96, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
training = dh.torch.Training(model, nn.CrossEntropyLoss(), (x, y), optimizer, iterations=40, chunks=12, batch=120)
done = dh.run(training, workers=3, code=dh.codes.cyclic(12, 2))

trained = done.state.model.eval()
alone = in_series(training)
near = bool(np.abs(dh.torch.flat(trained) - dh.torch.flat(alone.model)).max() < 1e-5)
accuracy = float((trained(x).argmax(dim=1) == y).float().mean())
print(f"{len(done.state.losses)} steps; the weights differ from one process alone by less than 1e-5: {near};", end=" ")
print(f"accuracy above 0.9: {accuracy > 0.9}")
