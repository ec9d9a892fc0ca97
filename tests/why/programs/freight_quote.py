import json

RATES = json.loads("""
{
  "zones": {
    "north": {"per_kg": 2.0, "flat": 5.0, "days": 3},
    "coast": {"per_kg": 1.5, "flat": 4.0, "days": 2},
    "inland": {"per_kg": 3.0, "flat": 7.5, "days": 5}
  },
  "surcharge": {"fragile": 4.0, "cold": 9.0}
}
""")

PARCELS = [
    {"id": 1, "from": "coast", "to": "north", "kg": 4, "tags": []},
    {"id": 2, "from": "coast", "to": "inland", "kg": 2, "tags": ["fragile"]},
    {"id": 3, "from": "north", "to": "north", "kg": 10, "tags": ["cold", "fragile"]},
]


def zone_of(parcel):
    name = parcel["from"]  # CAUSE
    return RATES["zones"][name]


def surcharges(parcel):
    table = RATES["surcharge"]
    return sum(table[tag] for tag in parcel["tags"])


def quote(parcel):
    """Price and transit time, by the zone the parcel is delivered in."""
    zone = zone_of(parcel)
    amount = zone["flat"] + zone["per_kg"] * parcel["kg"] + surcharges(parcel)
    return {"id": parcel["id"], "amount": amount, "days": zone["days"]}


def quote_all(parcels):
    quotes = [quote(p) for p in parcels]
    return {q["id"]: q for q in quotes}


def invoice_lines(quotes):
    for number, q in sorted(quotes.items()):
        yield f"#{number:03d}  {q['amount']:8.2f}  ({q['days']} days)"


quotes = quote_all(PARCELS)
for line in invoice_lines(quotes):
    print(line)
longest = max(q["days"] for q in quotes.values())
total = sum(q["amount"] for q in quotes.values())
print("total", total, "longest", longest)
assert quotes[3]["amount"] == 38.0
assert total == 68.5, total
