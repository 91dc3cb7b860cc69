"""The mathematics of Gaussian processes (docs/maths.md), in float64."""

__all__ = ["gaussian", "kernels", "mean_functions", "posterior", "randomness", "sparse"]
