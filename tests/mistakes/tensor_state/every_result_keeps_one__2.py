HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": True,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}
