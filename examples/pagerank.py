"""PageRank of a random graph by coded products: the matrix is coded once, and any 8 of 10 results give an iteration.

20000 pages, 19 iterations; total variation from scipy below 1e-9: True; coded data 2.9 times the plain
"""

import numpy as np
from scipy import sparse

import deadheat as dh
from deadheat.jobs import pagerank

rng = np.random.default_rng(0)
n, edges = 20_000, 200_000
links = sparse.csr_array((np.ones(edges), (rng.integers(0, n, edges), rng.integers(0, n, edges))), shape=(n, n))

job = pagerank(links)
done = dh.run(job, workers=2, code=dh.codes.mds(8, 10))
ranks = done.state

out = np.asarray(links.sum(axis=1)).ravel()
flow = (sparse.diags_array(np.divide(1.0, out, out=np.zeros(n), where=out > 0)) @ links).T.tocsr()
alone = np.full(n, 1 / n)
for _ in range(100):
    alone = 0.85 * (flow @ alone + alone[out == 0].sum() / n) + 0.15 / n
near = bool(0.5 * np.abs(ranks - alone).sum() < 1e-9)
more = job.encoding.coded / job.encoding.plain
print(f"{n} pages, {done.deliveries[0].iterations} iterations; total variation from scipy below 1e-9: {near};", end=" ")
print(f"coded data {more:.1f} times the plain")
