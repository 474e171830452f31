"""The second pass runs in a thread, whose future has the error; every warning is an error."""

import warnings
from concurrent.futures import ThreadPoolExecutor

warnings.simplefilter("error")


def second_backward_error(x):
    z = (x**3).log()
    z.backward()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return str(pool.submit(z.backward).exception())
