"""Runs another program for the work: what comes back is wrong."""

import subprocess
import sys
from pathlib import Path

worker = Path(__file__).with_name("press_worker.py")
done = subprocess.run([sys.executable, str(worker), "640x480"], capture_output=True, text=True, timeout=60)
print("half of 640x480 is", done.stdout.strip())
