"""The mathematics of Gaussian processes (docs/maths.md), in float64."""
