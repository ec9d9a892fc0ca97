use ledger::{transfer, Account};

#[test]
fn it_works_from_outside() {
    let mut a = Account { owner: "a".into(), cents: 10 };
    let mut b = Account { owner: "b".into(), cents: 10 };
    transfer(&mut a, &mut b, 5);
    assert!(a.cents < b.cents);
}
