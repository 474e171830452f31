"""relu_and_ste needs no scenarios besides the engine's."""
