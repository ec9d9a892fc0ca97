# ask: remaining
"""An inbox with rules that file its mails away."""


class Mail:
    def __init__(self, number, sender, subject):
        self.number = number
        self.sender = sender
        self.subject = subject

    def __repr__(self):
        return f"Mail({self.number}, {self.subject!r})"


ROWS = [
    ("shop@deals", "Half price"),
    ("lena@home", "Dinner on Friday"),
    ("shop@deals", "Last chance"),
    ("shop@deals", "Really the last chance"),
    ("bank@money", "Statement for May"),
    ("tom@work", "Minutes"),
    ("news@daily", "Morning edition"),
    ("news@daily", "Evening edition"),
    ("lena@home", "Photos"),
    ("tom@work", "Re: Minutes"),
]


def sender_is(name):
    return lambda mail: mail.sender.split("@")[0] == name


def subject_has(word):
    return lambda mail: word in mail.subject


RULES = [
    ("adverts", sender_is("shop")),
    ("papers", sender_is("news")),
    ("money", subject_has("Statement")),
]


class Mailbox:
    def __init__(self, mails):
        self.inbox = list(mails)
        self.folders = {}

    def file(self, folder, mail):
        self.inbox.remove(mail)
        self.folders.setdefault(folder, []).append(mail)

    def apply(self, folder, matches):
        moved = 0
        for mail in self.inbox:  # CAUSE
            if matches(mail):
                self.file(folder, mail)
                moved += 1
        return moved

    def tidy(self, rules):
        return {folder: self.apply(folder, test) for folder, test in rules}


mailbox = Mailbox(Mail(n, *row) for n, row in enumerate(ROWS, 1))
moved = mailbox.tidy(RULES)
remaining = [mail.number for mail in mailbox.inbox]
for folder, mails in mailbox.folders.items():
    print(folder, moved[folder], [mail.subject for mail in mails])
print("left in the inbox:", len(remaining))
