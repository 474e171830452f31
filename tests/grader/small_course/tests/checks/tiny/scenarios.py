"""What is seen from inside for tiny."""


def gradient(student, x, v):
    student.triple(x).backward(v)
    return x.grad
