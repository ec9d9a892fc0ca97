"""Each file beside this one is a scenario; its title says what it shows, its first line what that proves."""

from pathlib import Path

from trio_debugmcp.testing.scenarios import scenarios

test_it_goes_as_the_file_says = scenarios(Path(__file__).parent)
