import numpy as np


def expand(data, shape):
    return np.broadcast_to(data, shape).copy()
