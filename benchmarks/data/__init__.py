"""The data sets of the benchmarks: where each comes from, and a command that downloads them."""
