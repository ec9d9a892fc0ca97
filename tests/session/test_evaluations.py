"""What is known of evaluations that no caller waits for. Pure."""

from trio_debugmcp.session.evaluations import Evaluations


def test_one_that_is_kept_is_unfinished_until_its_answer_comes() -> None:
    evaluations = Evaluations(lambda: 1)
    first, second = evaluations.begun("first()"), evaluations.begun("second()")
    evaluations.keep(first)
    evaluations.keep(second)
    assert evaluations.unfinished is first
    first.end()
    assert evaluations.unfinished is second


def test_one_of_an_earlier_stop_holds_up_nothing() -> None:
    generation = 1
    evaluations = Evaluations(lambda: generation)
    evaluations.keep(evaluations.begun("slow()"))
    generation = 2
    assert evaluations.unfinished is None


def test_where_each_is_answered_itself_an_answer_to_another_ends_none() -> None:
    for each_is_answered in (False, True):
        evaluations = Evaluations(lambda: 1)
        evaluations.each_is_answered = each_is_answered
        evaluations.keep(evaluations.begun("slow()"))
        evaluations.forget()
        assert (evaluations.unfinished is not None) == each_is_answered
