"""softmax needs no scenarios besides the engine's."""
