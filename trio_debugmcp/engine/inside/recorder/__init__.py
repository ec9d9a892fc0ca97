"""The recorder of runs: what each line of the user's code wrote, as rows in files of fixed width."""
