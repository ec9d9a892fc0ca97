"""The same with `http.server`."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PRICES = {"tea": 3}


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        item = self.path.rpartition("/")[2]
        answer = {"item": item, "price": PRICES[item]}
        self.send_response(200)  # in view
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
print(server.server_port, flush=True)
server.serve_forever()
