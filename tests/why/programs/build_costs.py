"""What a build must do, in order."""


class Target:
    def __init__(self, name, needs=(), cost=1):
        self.name = name
        self.needs = list(needs)
        self.cost = cost


class Plan:
    def __init__(self, targets):
        self.targets = {target.name: target for target in targets}

    def order(self, name, done=None):
        done = [] if done is None else done
        for need in self.targets[name].needs:
            if need not in done:
                self.order(need, list(done))  # CAUSE
        done.append(name)
        return done

    def cost(self, name):
        return sum(self.targets[each].cost for each in self.order(name))


class Runner:
    def __init__(self, plan):
        self.plan = plan
        self.ran = []

    def run(self, name):
        for each in self.plan.order(name):
            if each in self.ran:
                continue
            self.ran.append(each)
        return self.ran


def plan():
    return Plan(
        [
            Target("fetch", cost=5),
            Target("compile", ["fetch"], cost=3),
            Target("test", ["compile"]),
            Target("pack", ["compile", "docs"]),
            Target("docs", ["fetch"], cost=2),
        ]
    )


runner = Runner(plan())
assert runner.run("fetch") == ["fetch"]
assert runner.plan.cost("pack") == 11
