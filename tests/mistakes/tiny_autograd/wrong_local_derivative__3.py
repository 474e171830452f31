class Value:
    ...

    def __truediv__(self, other):
        other = as_value(other)
        return result(self.data / other.data, (self, 1.0 / other.data), (other, self.data / other.data**2))
