"""Encode what crosses the border between judge and worker; both sides share this code.

* ``frames``: a message is one frame: MessagePack and a blob of raw bytes, both with a checked
  length. No torch.
* ``messages``: the type of each request and each answer; exceptions as plain data.
* ``values``: Python values, tensors among them, as nodes of a message, and back.
* ``program``: graphs and functions as data: allow-listed operations, built on either side by the
  same code.
* ``trace``: the graph behind a tensor as plain data.
* ``compat``: the private names and messages of torch and pytest that the engine relies on.

The worker imports only this package of the engine, and this package imports no other. Everything
that a worker sends is hostile: decoded data either is what its tag says or raises ``BrokenFrame``.
"""
