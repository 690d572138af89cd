# SPDX-License-Identifier: MIT
"""What verify/run and verify/certify are made of. Python 3 standard library only."""
