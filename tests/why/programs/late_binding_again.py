"""Commands of a chat bot, made from a table."""

import shlex


class Bot:
    def __init__(self, name):
        self.name = name
        self.commands = {}
        self.log = []

    def command(self, word):
        def register(function):
            self.commands[word] = function
            return function

        return register

    def say(self, line):
        word, *rest = shlex.split(line)
        if word not in self.commands:
            return f"{self.name} does not know {word}"
        answer = self.commands[word](*rest)
        self.log.append((word, answer))
        return answer


REPLIES = {
    "hello": "Hello, {}!",
    "bye": "See you, {}.",
    "thanks": "You are welcome, {}.",
}


def install(bot, replies):
    for word in replies:
        template = replies[word]

        @bot.command(word)
        def answer(who="friend"):  # CAUSE
            return template.format(who.title())

    @bot.command("count")
    def count():
        return str(len(bot.log))


bot = Bot("marvin")
install(bot, REPLIES)
for line in ("hello ada", "count", "bye 'grace hopper'", "sing"):
    print(bot.say(line))
assert bot.log[2] == ("bye", "See you, Grace Hopper."), bot.log[2][1]
