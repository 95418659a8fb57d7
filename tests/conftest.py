"""What all Python tests share: Hypothesis without a deadline, because the first example may compile the emulator."""

import os

from hypothesis import settings

settings.register_profile("ascir", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("ascir")
