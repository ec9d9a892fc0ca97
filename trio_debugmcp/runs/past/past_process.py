"""`PastProcess`: a recorded process as statements that ran and values that were."""

from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.block_outcomes import BlockOutcomes
from trio_debugmcp.runs.past.executions import StatementExecutions
from trio_debugmcp.runs.past.recorded_classes import RecordedClasses
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.past.recorded_values import RecordedValues
from trio_debugmcp.runs.past.source_mentions import SourceMentions


class PastProcess:
    """One recorded process.

    Attributes:
        record: its rows.
        scopes: its code as scopes of sources.
        mentions: where these call, store and pass on what has some name.
        executions: its statements as they ran.
        values: what names, attributes and items were.
        blocks: whether the blocks of conditions, loops and handlers were entered.
        classes: of its objects.
    """

    def __init__(self, record: ProcessRecord) -> None:
        self.record = record
        self.scopes = RecordedScopes(record)
        self.mentions = SourceMentions(record, self.scopes)
        self.executions = StatementExecutions(record, self.scopes)
        self.values = RecordedValues(record, self.scopes, self.executions)
        self.blocks = BlockOutcomes(record, self.executions, self.values)
        self.classes = RecordedClasses(record)
