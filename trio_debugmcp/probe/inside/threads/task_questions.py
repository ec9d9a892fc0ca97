"""Questions about tasks: which there are, and the frames of one."""

from typing import List

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.question import ProbeQuestion
from trio_debugmcp.probe.inside.threads import async_tasks, task_list
from trio_debugmcp.probe.inside.visible_frames import Json


def tasks(asked: ProbeQuestion) -> Json:
    """The asyncio tasks and the Trio tasks of the program, with the locals of their frames if `locals` is true."""
    renderer = asked.renderer if asked.parameters.get("locals") else None
    return async_tasks.tasks_json(asked.budget, asked.number("start", 0), asked.number("count", 200), renderer)


def frames(asked: ProbeQuestion, most: int) -> Json:
    """The frames of a task, the innermost first, with the locals of each if `locals` is true."""
    task = asked.task()
    found, start = task_list.frames_of(task), asked.number("start", 0)
    listed: List[Json] = []
    for index, seen in enumerate(found[start : start + asked.number("count", most)], start):
        if asked.budget.spent():
            break
        listed.append(visible_frames.frame_json(index, seen, False))
        if asked.parameters.get("locals"):
            visible_frames.put_locals(listed[-1], seen.frame, asked.budget, asked.renderer)
        asked.budget.take_json(listed[-1])
    state = "running" if task.is_running else "waiting"
    thread = 0 if task.thread is None else task.thread.id
    return {"thread": thread, "frames": listed, "total": len(found), "state": state}
