# SPDX-License-Identifier: MIT
"""Static pictures as SVG, for pages and benchmarks: executions of model checkers, bars, and batches against time."""
