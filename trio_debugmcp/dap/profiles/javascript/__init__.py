"""JavaScript and TypeScript, debugged by js-debug: values, exceptions, and what node prints."""
