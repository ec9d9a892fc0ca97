import argparse


def parser():
    main = argparse.ArgumentParser()
    commands = main.add_subparsers(dest="command")
    commands.add_parser("list")
    commands.add_parser("run").add_argument("--times", default="3")  # CAUSE
    return main


def run(options):
    done = []
    for number in range(10):
        if len(done) == options.times:
            break
        done.append(number)
    return done


def main():
    options = parser().parse_args(["run"])
    done = run(options)
    assert len(done) == 3, done


main()
