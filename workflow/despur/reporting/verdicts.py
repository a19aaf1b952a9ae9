"""Does a reproduced number agree with the printed one?"""

import math


def agrees(
    reported: float, reported_std: float | None, reported_seeds: int, ours: float, ours_std: float, seeds: int, samples: float
) -> bool | None:
    """Whether the difference lies within two standard deviations of it; all values in percent.

    Its variance is reported_std^2 / reported_seeds + ours_std^2 / seeds + the binomial variance of a share ``ours`` of
    ``samples`` test samples. None (undecided) from one seed.
    """
    if seeds < 2:
        return None
    share = min(max(ours / 100, 0.0), 1.0)
    variance = (reported_std or 0.0) ** 2 / reported_seeds + ours_std**2 / seeds + 1e4 * share * (1 - share) / max(samples, 1)
    return abs(ours - reported) <= 2 * math.sqrt(variance)
