"""What crosses the border between judge and worker, and the code that both sides share.

* ``frames``: a message is one frame, a length-checked piece of JSON and a blob of raw bytes. No
  torch.
* ``tensors``: a tensor as bytes and what describes them, and back.
* ``values``: Python values, tensors among them, as tagged data, and back.
* ``keys``: how many keys dicts and sets in a value may have.
* ``exceptions``: an exception as plain data.
* ``program``: graphs and functions as data: allow-listed operations, built on either side by the
  same code.
* ``trace``: the graph behind a tensor as plain data.
* ``compat``: the private names and messages of torch and pytest that we rely on.

The worker imports this package and nothing else of ours; this package imports nothing of ours
beyond itself. Everything that comes out of a worker is hostile: whatever is decoded here either is
what its tag says or raises ``BrokenFrame``.
"""

from grader.worker.wire.frames import BrokenFrame

__all__ = ["BrokenFrame"]
