"""The resource templates: what can be read beside the resources that are listed."""

import mcp_types as types

from trio_debugmcp.server.kept_answers import CALL_TEMPLATE, CALL_TEMPLATE_DESCRIPTION, CALL_TEMPLATE_NAME
from trio_debugmcp.server.processor_times import PROCESSOR
from trio_debugmcp.state.resources import RESOURCES, SOURCE_DESCRIPTION, SOURCE_NAME, SOURCE_TEMPLATE
from trio_debugmcp.state.session_resources import (
    SERVER_RESOURCES,
    SESSION_TEMPLATE,
    SESSION_TEMPLATE_DESCRIPTION,
    SESSION_TEMPLATE_NAME,
    SESSIONS,
)
from trio_debugmcp.state.stop_resource import STOP_TEMPLATE, STOP_TEMPLATE_DESCRIPTION, STOP_TEMPLATE_NAME

TEMPLATES = (SOURCE_TEMPLATE, SESSION_TEMPLATE, STOP_TEMPLATE, CALL_TEMPLATE)

_TEXTS = (
    (SOURCE_TEMPLATE, SOURCE_NAME, SOURCE_DESCRIPTION, "text/plain"),
    (SESSION_TEMPLATE, SESSION_TEMPLATE_NAME, SESSION_TEMPLATE_DESCRIPTION, "application/json"),
    (STOP_TEMPLATE, STOP_TEMPLATE_NAME, STOP_TEMPLATE_DESCRIPTION, "application/json"),
    (CALL_TEMPLATE, CALL_TEMPLATE_NAME, CALL_TEMPLATE_DESCRIPTION, "application/json"),
)


def listed_templates() -> list[types.ResourceTemplate]:
    """Return what `resources/templates/list` answers while there is a session."""
    return [
        types.ResourceTemplate(uri_template=uri, name=name, description=description, mime_type=mime_type)
        for uri, name, description, mime_type in _TEXTS
    ]


def unknown_resource() -> str:
    """Return the sentence about a URI that nothing can have."""
    return f"Unknown resource. There are: {', '.join([*RESOURCES, SESSIONS, *SERVER_RESOURCES, PROCESSOR, *TEMPLATES])}"
