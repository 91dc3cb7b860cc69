"""Score models: the protocol of the benchmark, metrics, baselines, calibration, cards."""
