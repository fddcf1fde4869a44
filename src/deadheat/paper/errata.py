"""What is wrong in the paper, beyond single numbers."""

ERRATA = (
    "Theorem 2 equalises a score; it does not minimise the delay. Worked example with Omega = 1: its loads 12, 16, 6,"
    " 3, 13 give 69.52 s, and 12, 18, 5, 1, 14 give 63.70 s (deadheat.fastest). Nor is it the literal minimum of"
    " (opt2), where an idle worker counts theta squared.",
    "Equation (LB) is a service time, and it averages the c_p of all workers: where one of large c_p is not used, and"
    " in Figure 4 too, delays below it (with waiting) are reached. The genie's bound is a true one.",
    "Table II lies in an unstable queue: its numbers are averages over the first 1000 jobs and grow with their number.",
    "The printed delays are single draws of 1000 jobs; their spread is not given.",
    "gamma has the unit 1/time, so the split depends on the unit of time: seconds here.",
    "The caption of Figure 2(b) has sigma squared where the text has m squared; equal for exponential times only.",
    "KC = Z fixed is true for uncoded, MDS-linear, polynomial and FFT codes, and false for every exact gradient code.",
)
