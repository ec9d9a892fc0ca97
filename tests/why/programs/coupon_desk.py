"""A desk that redeems coupons, with its tests."""
import unittest

USED = set()
VALUES = {"A": 500, "B": 250, "C": 100}


class Refused(Exception):
    pass


class Desk:
    def __init__(self, limit=1000):
        self.limit = limit
        self.paid = 0

    def value(self, coupon):
        try:
            return VALUES[coupon[0]]
        except KeyError:
            raise Refused(f"unknown series {coupon}") from None

    def redeem(self, coupon):
        if coupon in USED:
            raise Refused(f"used {coupon}")
        value = self.value(coupon)
        if self.paid + value > self.limit:
            raise Refused("over the limit")
        USED.add(coupon)
        self.paid += value
        return value


def redeem_all(desk, coupons):
    refused = []
    for coupon in coupons:
        try:
            desk.redeem(coupon)
        except Refused as error:
            refused.append(str(error))
    return refused


# --- tests -----------------------------------------------------------------
class DeskTest(unittest.TestCase):
    def setUp(self):
        self.desk = Desk()  # CAUSE

    def test_a_single_coupon(self):
        self.assertEqual(self.desk.redeem("A17"), 500)
        self.assertEqual(self.desk.paid, 500)

    def test_b_unknown_series(self):
        with self.assertRaises(Refused):
            self.desk.redeem("Z01")

    def test_c_many_coupons(self):
        refused = redeem_all(self.desk, ["B01", "C02", "B03", "C04", "A17"])
        self.assertEqual(refused, ["over the limit"])
        self.assertEqual(self.desk.paid, 700)

    def test_d_twice_the_same(self):
        self.desk.redeem("C55")
        self.assertEqual(redeem_all(self.desk, ["C55"]), ["used C55"])

    def test_e_sum_of_a_page(self):
        page = ["B03", "C02", "C08", "B09"]
        refused = redeem_all(self.desk, page)
        self.assertEqual((self.desk.paid, refused), (700, []))


if __name__ == "__main__":
    unittest.main()
