"""The configuration files of MCP hosts: which there are, and our entry in them.

    for host in hosts_of(os.environ, home_directory()):
        print(host.with_entry(host.file.read_text(), ServerEntry("trio-debugmcp", ("serve",))))

All else in a file stays as it was, character by character; each edit is checked by reading what came of it.
"""
