"""Does what it can to get onto the wire: JSON-RPC on its standard output, by print, by descriptor and by child."""

import os
import subprocess

print('{"jsonrpc": "2.0", "method": "notifications/evil"}')
os.write(1, b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n')
subprocess.run(["/bin/echo", '{"jsonrpc": "2.0", "id": 2, "result": {}}'], check=True)
print("Content-Length: 5\r\n\r\n{}", flush=True)
print("done")  # last
