"""What is seen from inside for compound_interest."""


def summed(student, payments):
    return student.total(payments).tolist()
