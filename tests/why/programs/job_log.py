import os
import tempfile


class Log:
    def __init__(self, path):
        self.path = path
        self.out = open(path, "a")

    def write(self, level, text):
        self.out.write(f"{level} {text}\n")
        self.out.flush()

    def close(self):
        self.out.close()


def errors(path):
    found = []
    with open(path) as lines:
        for line in lines:
            level, _, text = line.strip().partition(" ")
            if level == "ERROR":
                found.append(text)
    return found


def job(log, amount):
    if amount < 0:
        log.write("error", f"negative {amount}")  # CAUSE
        return 0
    log.write("INFO", f"amount {amount}")
    return amount


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "job.log")
        log = Log(path)
        total = sum(job(log, amount) for amount in (3, -4, 5))
        log.close()
        bad = errors(path)
    print(total)
    assert bad == ["negative -4"], bad


main()
