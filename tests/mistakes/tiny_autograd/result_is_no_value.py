class Value:
    ...

    def __neg__(self):
        return -self.data
