"""Softmax regression over four workers, under a code that loses two results of ten without waiting for them.

90 iterations at most, 20 needed; loss 0.1876; 93.2% of the labels are right
"""

import numpy as np

import deadheat as dh
from deadheat.jobs import arrays, softmax

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 1200)
x = rng.normal(size=(1200, 5)) + 2.5 * np.eye(3, 5)[labels]

job = softmax(arrays(x, labels), classes=3, l2=1e-3, iterations=90, chunks=10)
done = dh.run(job, workers=4, code=dh.codes.cyclic(10, 2))
fit = done.state

right = (np.column_stack([x, np.ones(1200)]) @ fit.weights).argmax(axis=1) == labels
used = done.deliveries[0].iterations
print(f"90 iterations at most, {used} needed; loss {fit.loss:.4f}; {right.mean():.1%} of the labels are right")
