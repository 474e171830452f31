"""A student's function under test, with its truth: what checks of any such function have in common.

``under_test("Sigmoid.apply", torch.sigmoid)`` knows the function, its truth and its picture. It
computes the truth before the call, from tensors that the student never gets, passes clones, and
lets the student write into them, except where that is what is checked.

Its methods are parts of checks. Those without required arguments draw their inputs themselves, and
``check`` makes a whole check of some of them::

    S = under_test("Sigmoid.apply", torch.sigmoid)
    test_every_shape = S.check(0.5, "every shape works", S.every_shape, needs=test_value)

``hands_on`` is the same for a function that returns what another one of the student's returns.
"""

from grader.judge.under_test.autograd_parts import UnderTest
from grader.judge.under_test.wrapper_function import HandsOn

under_test, hands_on = UnderTest, HandsOn
