# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Ops that do not pass a sweep, each with the reason. A row that is no longer needed fails.

Readers and resizers around the dispatcher fail with a clear error and never quietly; outside of these
tests what they read is smaller than a session's floor.
"""

# Ops of which two plain runs may differ: only the geometry of their results is compared.
UNSTABLE = {
    "empty": "no contents",
    "empty_like": "no contents",
    "empty_permuted": "no contents",
    "empty_strided": "no contents",
    "new_empty": "no contents",
    "new_empty_strided": "no contents",
    "fft.ihfftn": "over one dimension, torch does not write `out` at all",
    "linalg.lstsq": "LAPACK's gelsy reads pivots that torch leaves uninitialised",
    "linalg.lstsq.grad_oriented": "as linalg.lstsq",
}

READS_LENGTHS = "a composite that reads the lengths around the dispatcher"
READS_SPLITS = "a composite that reads the places to split at around the dispatcher"
RESIZES_OUT = "a composite whose out= overload resizes `out` around the dispatcher"

# (op, sweep, reason)
EXCEPTIONS = [
    ("kron", "host", RESIZES_OUT),
    ("linalg.cond", "host", RESIZES_OUT),
    ("linalg.matrix_rank", "host", RESIZES_OUT),
    ("linalg.multi_dot", "host", RESIZES_OUT),
    ("linalg.pinv", "host", RESIZES_OUT),
    ("linalg.tensorinv", "host", RESIZES_OUT),
    ("linalg.tensorsolve", "host", RESIZES_OUT),
    ("nn.functional.ctc_loss", "host", READS_LENGTHS),
    ("nn.functional.ctc_loss", "recompute", READS_LENGTHS),
    ("norm.nuc", "host", RESIZES_OUT),
    ("special.ndtr", "host", RESIZES_OUT),
    ("tensor_split", "host", READS_SPLITS),
    ("tensor_split", "recompute", READS_SPLITS),
    ("tensordot", "host", RESIZES_OUT),
]

# Ops none of whose samples make the sessions move anything, or compute anything again, with the
# reason. A row that is no longer needed fails.
NOTHING_THERE = "what is tried of it has no elements, or fails in plain torch too"
NEVER_MOVED = {
    "broadcast_shapes": "takes and gives no tensors",
    "nn.functional.unfold": NOTHING_THERE,
}
NEVER_REPLAYED = {
    **NEVER_MOVED,
    **dict.fromkeys(("arange", "empty", "empty_permuted", "empty_strided", "eye", "full", "linspace",
                     "logspace", "ones", "randint", "randn", "scalar_tensor", "tril_indices",
                     "triu_indices", "zeros"), "makes a source, which is never dropped"),
    "linalg.eig": NOTHING_THERE,
}
