"""A Flask program that serves prices, on a port that it prints."""

from flask import Flask
from werkzeug.serving import make_server

PRICES = {"tea": 3}

app = Flask("shop")


@app.get("/price/<item>")
def price(item):
    answer = {"item": item, "price": PRICES[item]}
    return answer  # in view


server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
