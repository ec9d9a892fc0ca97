"""launch.json and tasks.json of Visual Studio Code: read, resolved, and turned into what is to be started. Pure.

    file = read_launch_file(text, ".vscode/launch.json")
    plan = resolve(file, "Flask", context)  # Plan(name="Flask", request="launch", program="/shop/app.py", …)
    task = resolve_task(tasks, plan.pre_task, context)

The context has what only the outside knows: folders, the file that is meant, variables, and how files are read.
"""
