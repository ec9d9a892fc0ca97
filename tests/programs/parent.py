import multiprocessing
import subprocess
import sys
from pathlib import Path


def work(number):
    squared = number * number
    return squared


def main():
    child = Path(__file__).with_name("child.py")
    done = subprocess.run([sys.executable, str(child), "x"], capture_output=True, text=True, check=False)
    print("child said", done.stdout.strip(), "and returned", done.returncode)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        print("squares", pool.map(work, range(8)))


if __name__ == "__main__":
    main()
