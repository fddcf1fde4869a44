"""A product of two matrices and a Fourier transform, once each, from whichever results come first.

polynomial: any 6 of 8 results, right: True
matdot: any 5 of 8 results, right: True
entangled: any 9 of 12 results, right: True
fft: any 8 of 10 results, right: True
"""

import numpy as np

import deadheat as dh
from deadheat.jobs import ProductJob, TransformJob

rng = np.random.default_rng(0)
a, b, signal = rng.normal(size=(300, 200)), rng.normal(size=(200, 150)), rng.normal(size=1024)

for code in (dh.codes.polynomial(3, 2, 8), dh.codes.matdot(3, 8), dh.codes.entangled(2, 2, 2, 12)):
    product = dh.run(ProductJob(a, b), workers=2, code=code).state
    print(f"{code.family}: any {code.critical} of {code.total} results, right: {np.allclose(product, a @ b)}")
code = dh.codes.fft(8, 10)
spectrum = dh.run(TransformJob(signal), workers=2, code=code).state
right = np.allclose(spectrum, np.fft.fft(signal))
print(f"{code.family}: any {code.critical} of {code.total} results, right: {right}")
