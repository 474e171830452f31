"""Encode what crosses the border between judge and worker; both sides share this code.

* ``frames``: a message is one frame: JSON and a blob of raw bytes, both with a checked length. No
  torch.
* ``values``: Python values, tensors among them, as tagged data, and back; exceptions as plain data.
* ``program``: graphs and functions as data: allow-listed operations, built on either side by the
  same code.
* ``batching``: the requests of a gradcheck, predicted.
* ``trace``: the graph behind a tensor as plain data.
* ``compat``: the private names and messages of torch and pytest that the engine relies on.

The worker imports only this package of the engine, and this package imports no other. Everything
that a worker sends is hostile: decoded data either is what its tag says or raises ``BrokenFrame``.
"""
