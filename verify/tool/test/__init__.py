# SPDX-License-Identifier: MIT
"""Tests of verify/run and verify/certify, run by verify/selftest."""
