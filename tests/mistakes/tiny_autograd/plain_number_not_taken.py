class Value:
    ...

    def __add__(self, other):
        return result(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return result(self.data * other.data, (self, other.data), (other, self.data))

    def __truediv__(self, other):
        return self * other**-1
